"""`rocketchaos shrink` of a night, without a cluster: every new finding in turn, each from its shortest run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.cli import main as cli
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.nightly.findings import findings
from rocketchaos.harness.nightly.known_before import code_of
from rocketchaos.harness.nightly.stated import of_night
from rocketchaos.harness.reporting.folder import load_report
from rocketchaos.harness.scenario import load_scenario
from tests.unit.nightly.recorded import GOLDEN, RUN, recorded_runner

DROPPED = "same-group-different-tags"
TOPICS = "same-group-different-topics"
"""Has two findings, which the recorded runner never shows again."""


def signatures(run: str) -> list[str]:
    report = load_report(GOLDEN / run)
    return [finding.signature for finding in findings(report.scenario, report.events, report.outcome)]


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    (tmp_path / "here").mkdir()
    return recorded_runner(monkeypatch, tmp_path / "here")


def a_run(night: Path, golden: str, name: str) -> Path:
    """A run of the night, recorded."""
    folder = night / f"nightly-7-{name}" / f"20261123T000000.000-{name}"
    shutil.copytree(GOLDEN / golden, folder)
    return folder


def write_status(night: Path, *found: tuple[str, bool, Sequence[Path]]) -> Path:
    file = night / "nightly-status.json"
    listed = [
        {
            "kind": signature.partition(":")[0],
            "signature": signature,
            "known": known,
            "runs": len(runs),
            "shown_by": [{"scenario": run.parent.name, "seed": 7, "run": str(run)} for run in runs],
        }
        for signature, known, runs in found
    ]
    file.write_text(json.dumps({"schema_version": 1, "seed": 7, "findings": listed}))
    return file


def a_night(folder: Path) -> Path:
    """Three findings: of two runs the same one, a known one, and one that never shows itself again."""
    night = folder / "night"
    long, short = a_run(night, DROPPED, "1"), a_run(night, DROPPED, "2")
    with (long / "events.jsonl").open("a") as events:
        events.write(events_of(long)[-1] + "\n")
    topics = a_run(night, TOPICS, "3")
    known, new = signatures(TOPICS)
    write_status(
        night,
        (new, False, [topics]),
        (signatures(DROPPED)[0], False, [long, short]),
        (known, True, [topics]),
    )
    return night


def events_of(run: Path) -> list[str]:
    return (run / "events.jsonl").read_text().splitlines()


@pytest.mark.parametrize("by", ["folder", "file"])
def test_every_new_finding_is_shrunk_and_one_that_can_not_be_keeps_none_from_it(
    runner: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], by: str
) -> None:
    night = a_night(tmp_path)
    what = night if by == "folder" else night / "nightly-status.json"
    assert cli.main(["shrink", str(what), "--repeat", "1"]) == ExitCode.INCONCLUSIVE
    (file,) = (night / "findings").iterdir()
    assert load_scenario(file).expected == "reproduced"
    text = capsys.readouterr().out
    known, new = map(code_of, signatures(TOPICS))
    assert f"\n{new}\n  not shrunk: not one of 4 further runs shows it\n" in text
    assert f"\n{code_of(signatures(DROPPED)[0])}\n  " in text
    assert f"\n  Wrote {file}: rocketchaos reproduce {file}\n" in text
    assert known not in text


def test_it_begins_with_the_shortest_run_and_each_has_its_own_time_and_options(
    runner: Any, tmp_path: Path
) -> None:
    night = a_night(tmp_path)
    (item,) = of_night(night / "nightly-status.json", "filtered-by-client")
    assert item.runs[0].parent.name == "nightly-7-2"
    assert len(events_of(item.runs[0])) < len(events_of(item.shown_by[0]))
    cli.main(["shrink", str(night), "--repeat", "1"])
    assert len(runner.options_of) == 2


@pytest.mark.parametrize("silent", [2, 99])
def test_where_the_shortest_run_never_shows_it_again_the_next_one_may(
    runner: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    silent: int,
) -> None:
    (signature,) = signatures(DROPPED)
    write_status(tmp_path, (signature, False, [a_run(tmp_path, DROPPED, name) for name in "12"]))
    monkeypatch.setattr(runner, "answers", staticmethod(lambda number, _scenario: number > silent))
    code = cli.main(["shrink", str(tmp_path), "--repeat", "1", "--finding", signature])
    assert len(runner.options_of) == 2
    text = capsys.readouterr().out
    if silent == 2:
        assert code == ExitCode.AS_EXPECTED
        assert "Wrote " in text
    else:
        assert code == ExitCode.INCONCLUSIVE
        assert len(runner.jobs) == 4
        assert (
            "nightly-7-1: not one of 2 further runs shows it; nightly-7-2: not one of 2 further runs" in text
        )


def test_there_is_no_next_one_where_the_time_is_up(
    runner: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (signature,) = signatures(DROPPED)
    write_status(tmp_path, (signature, False, [a_run(tmp_path, DROPPED, name) for name in "12"]))
    monkeypatch.setattr(runner, "answers", staticmethod(lambda _number, _scenario: False))
    words = ["shrink", str(tmp_path), "--repeat", "1", "--finding", signature, "--minutes", "0.5"]
    assert cli.main(words) == ExitCode.INCONCLUSIVE
    assert len(runner.options_of) == 1
    assert "not shrunk: not one of 2 further runs shows it\n" in capsys.readouterr().out


def test_runs_that_were_moved_with_the_folder_are_found_beside_the_status_file(tmp_path: Path) -> None:
    night = a_night(tmp_path)
    moved = tmp_path / "moved"
    night.rename(moved)
    (item,) = of_night(moved / "nightly-status.json", "filtered-by-client")
    assert item.runs[0] == moved / "nightly-7-2" / item.shown_by[1].name
    shutil.rmtree(moved / "nightly-7-2")
    assert item.runs[0] == moved / "nightly-7-1" / item.shown_by[0].name
    shutil.rmtree(moved / "nightly-7-1")
    with pytest.raises(UsageProblem, match=r"no run that shows it is there any more: .*nightly-7-1"):
        _ = item.runs[0]


def test_a_run_that_stayed_where_it_was_is_found_there(tmp_path: Path) -> None:
    night = a_night(tmp_path)
    other = tmp_path / "elsewhere" / "nightly-status.json"
    other.parent.mkdir()
    (night / "nightly-status.json").rename(other)
    (item,) = of_night(other, "filtered-by-client")
    assert item.runs[0] == item.shown_by[1]


def test_one_of_which_no_run_is_left_keeps_none_from_it(
    runner: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    night = a_night(tmp_path)
    shutil.rmtree(night / "nightly-7-3")
    words = ["--repeat", "1", "--out", str(tmp_path / "out")]
    assert cli.main(["shrink", str(night), *words]) == ExitCode.USAGE
    assert len(list((tmp_path / "out").iterdir())) == 1
    assert "not shrunk: no run that shows it is there any more" in capsys.readouterr().out


def test_only_those_that_are_asked_for(
    runner: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    night = a_night(tmp_path)
    words = ["shrink", str(night), "--repeat", "1", "--finding"]
    assert cli.main([*words, "filtered-by-client"]) == ExitCode.AS_EXPECTED
    assert len(runner.options_of) == 1
    assert cli.main([*words, "no such"]) == ExitCode.USAGE
    assert "has `no such` in its code\n  There are: " in capsys.readouterr().err


def test_a_night_without_a_new_finding_leaves_nothing_to_do(
    runner: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_status(tmp_path, (signatures(DROPPED)[0], True, [RUN]))
    assert cli.main(["shrink", str(tmp_path)]) == ExitCode.AS_EXPECTED
    assert "nothing to shrink" in capsys.readouterr().out
    assert not (tmp_path / "findings").exists()


def test_a_place_that_can_not_be_written_is_said_before_anything_runs(
    runner: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    night = a_night(tmp_path)
    (tmp_path / "file").write_text("")
    assert cli.main(["shrink", str(night), "--out", str(tmp_path / "file")]) == ExitCode.ENVIRONMENT
    assert "can't be written" in capsys.readouterr().err
    assert runner.jobs == []


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"findings": [{}]}', '{"findings": 3}'])
def test_what_is_no_status_file_is_refused(
    runner: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    file = tmp_path / "nightly-status.json"
    file.write_text(text)
    assert cli.main(["shrink", str(file)]) == ExitCode.USAGE
    assert "is no status file of a night" in capsys.readouterr().err


def test_an_interruption_ends_them_all_and_what_was_found_is_reported(
    runner: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    night = a_night(tmp_path)
    status = json.loads((night / "nightly-status.json").read_text())
    status["findings"].reverse()
    (night / "nightly-status.json").write_text(json.dumps(status))

    def before(number: int, _interrupted: object) -> None:
        if number == 6:
            raise KeyboardInterrupt

    monkeypatch.setattr(runner, "before", staticmethod(before))
    assert cli.main(["shrink", str(night), "--repeat", "1"]) == ExitCode.INTERRUPTED
    (file,) = (night / "findings").iterdir()
    text = capsys.readouterr().out
    assert f"  not shrunk: interrupted\n  Wrote {file}: the smallest one so far" in text
    assert "  not shrunk: the time was up before it started" in text


def test_what_the_environment_breaks_is_reported_with_what_was_found_until_then(
    runner: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    night = a_night(tmp_path)
    fails = lambda number: Trouble.ENVIRONMENT if number >= 10 else None  # noqa: E731
    monkeypatch.setattr(runner, "troubles", staticmethod(fails))
    assert cli.main(["shrink", str(night), "--repeat", "1"]) == ExitCode.ENVIRONMENT
    (file,) = (night / "findings").iterdir()
    text = capsys.readouterr().out
    assert "  not shrunk: a run failed: no disk\n" in text
    assert f"  Wrote {file}: the smallest one so far that shows it; its checks were not measured\n" in text
