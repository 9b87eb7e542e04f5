"""What of a shared log is a run's."""

from __future__ import annotations

from pathlib import Path

from rocketchaos.harness.workers.shared_logs import SharedLogs, entries_with

BEFORE = b"2026-01-01 00:00:00,000 INFO g-tok1 from before\n"
MINE = b"2026-01-01 00:00:01,000 WARN group g-tok1 failed\njava.lang.Exception: x\n\tat y\n"
OTHERS = b"2026-01-01 00:00:02.000 INFO g-tok2\n\tat tok2\n"
NOBODYS = b"2026-01-01 00:00:03,000 INFO netty\n"
LAST = b"2026-01-01 00:00:04,000 INFO closed\n of a@tok1"


def test_entries_are_whole() -> None:
    lines = (MINE + OTHERS + NOBODYS + LAST).splitlines(keepends=True)
    assert b"".join(entries_with(b"tok1", lines)) == MINE + LAST
    assert b"".join(entries_with(b"tok3", lines)) == b""
    assert list(entries_with(b"tok1", [])) == []


def test_only_what_was_written_during_the_run(tmp_path: Path) -> None:
    folder, printed, target = tmp_path / "shared-1", tmp_path / "shared-1.log", tmp_path / "run" / "shared-1"
    (folder / "deeper").mkdir(parents=True)
    log = folder / "deeper" / "rocketmq_client.log"
    log.write_bytes(BEFORE)
    printed.write_bytes(b"# A fatal error has been detected\n")
    logs = SharedLogs(folder, printed, "tok1")
    with log.open("ab") as file:
        file.write(MINE + OTHERS)
    (folder / "new.log").write_bytes(LAST)
    (folder / "quiet.log").write_bytes(NOBODYS)
    logs.collect(target, whole=False)
    assert {path.name: path.read_bytes() for path in target.iterdir()} == {
        "rocketmq_client.log": MINE,
        "new.log": LAST,
    }
    assert not (tmp_path / "run" / "shared-1.log").exists()
    logs.collect(target, whole=True)
    assert b"fatal" in (tmp_path / "run" / "shared-1.log").read_bytes()


def test_a_log_that_cannot_be_copied_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    SharedLogs(tmp_path / "none", tmp_path / "none.log", "tok1").collect(tmp_path / "file" / "x", whole=True)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "in the way")]
