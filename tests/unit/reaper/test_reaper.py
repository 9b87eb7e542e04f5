from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.reaper import reaper_process as reaper_process
from rocketchaos.harness.reaper.reaper import (
    OWNER_VARIABLE,
    Reaper,
    end,
    engines_of,
    find_owned,
    harness_alive,
    held,
    new_owner,
)
from rocketchaos.harness.reaper.reaper_process import Charge
from tests.waiting import until

LIMIT_S = 5.0


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def children() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes of a test; what a failing test leaves is ended."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


def sleeper(owner: str | None) -> subprocess.Popen[bytes]:
    environment = {key: value for key, value in os.environ.items() if key != OWNER_VARIABLE}
    return subprocess.Popen(["sleep", "60"], env=environment | ({OWNER_VARIABLE: owner} if owner else {}))


HARNESS = """
    import os, signal, subprocess, sys, time
    from pathlib import Path
    from rocketchaos.harness.reaper.reaper import Reaper
    reaper = Reaper.start()
    reaper.remove_at_death(Path(sys.argv[1]))
    def sleeper(**more):
        environment = dict(os.environ, ROCKETCHAOS_OWNER=reaper.owner)
        return subprocess.Popen(["sleep", "60"], env=environment, **more).pid
    plain, stopped, session = sleeper(), sleeper(), sleeper(start_new_session=True)
    os.kill(stopped, signal.SIGSTOP)
    bare = subprocess.Popen(["sleep", "60"]).pid
    reaper.own(bare)
    print(reaper._process.pid, plain, stopped, session, bare, flush=True)
    {end}
    time.sleep(60)
"""


def stand_in(tmp_path: Path, end: str = "") -> tuple[subprocess.Popen[str], int, list[int]]:
    """A harness in a process of its own: itself, its reaper's pid, the pids of what it started."""
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "commitlog").write_text("x")
    harness = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HARNESS).format(end=end), str(tmp_path / "store")],
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert harness.stdout is not None
    pids = [int(pid) for pid in harness.stdout.readline().split()]
    harness.stdout.close()
    return harness, pids[0], pids[1:]


def test_a_killed_harness_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    harness, its_reaper, pids = stand_in(tmp_path)
    assert len(pids) == 4
    assert all(runs(pid) for pid in pids)
    harness.kill()
    harness.wait()
    begin = time.monotonic()
    until(lambda: not any(runs(pid) for pid in pids), LIMIT_S)
    until(
        lambda: not (tmp_path / "store").exists() and not runs(its_reaper),
        LIMIT_S - time.monotonic() + begin,
    )


def test_an_exception_in_the_harness_is_no_release(tmp_path: Path) -> None:
    harness, its_reaper, pids = stand_in(
        tmp_path, "sys.stderr.close(); exec('with reaper: raise RuntimeError')"
    )
    assert harness.wait(10) != 0
    until(lambda: not any(runs(pid) for pid in [*pids, its_reaper]), LIMIT_S)


def test_signals_to_the_reaper_and_the_terminals_group_do_not_end_it(tmp_path: Path) -> None:
    harness, its_reaper, pids = stand_in(tmp_path)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(its_reaper, number)
    os.killpg(harness.pid, signal.SIGTERM)
    harness.wait()
    until(lambda: not any(runs(pid) for pid in pids), LIMIT_S)
    until(lambda: not (tmp_path / "store").exists(), LIMIT_S)


def test_a_released_reaper_goes_and_touches_nothing(
    tmp_path: Path, children: list[subprocess.Popen[bytes]]
) -> None:
    with Reaper.start() as handle:
        children.append(sleeper(handle.owner))
        handle.remove_at_death(tmp_path)
    assert handle._process.poll() == 0
    assert runs(children[0].pid)
    assert tmp_path.exists()
    handle.release()


def test_another_owners_processes_are_touched_only_while_they_are_watched(
    children: list[subprocess.Popen[bytes]],
) -> None:
    kept, watched, foreign = new_owner(), new_owner(), new_owner()
    children += [sleeper(kept), sleeper(watched), sleeper(foreign), sleeper(None)]
    handle = Reaper.start()
    handle.watch(kept)
    handle.watch(watched)
    handle.unwatch(kept)
    handle.end_all()
    until(lambda: not runs(children[1].pid), LIMIT_S)
    assert [runs(child.pid) for child in children] == [True, False, True, True]


def test_a_release_ends_a_cluster_that_is_still_starting(children: list[subprocess.Popen[bytes]]) -> None:
    ended, starting = new_owner(), new_owner()
    handle = Reaper.start()
    handle.watch(ended)
    handle.watch(starting)
    children += [sleeper(ended), sleeper(starting)]
    handle.unwatch(ended)
    handle.release()
    until(lambda: not runs(children[1].pid), LIMIT_S)
    assert runs(children[0].pid)


def test_nothing_is_started_after_the_release() -> None:
    handle = Reaper.start()
    handle.release()
    with pytest.raises(EnvironmentNotReady, match="is ending"):
        _ = handle.owner
    with pytest.raises(EnvironmentNotReady):
        handle.watch(new_owner())


def test_a_process_that_appears_after_the_first_scan_is_found(
    children: list[subprocess.Popen[bytes]],
) -> None:
    handle = Reaper.start()
    owner = handle.owner
    assert handle._process.stdin is not None
    handle._process.stdin.close()
    # No condition to await: the reaper says nothing of its scans; they are 0.35 s apart.
    time.sleep(0.3)
    children.append(sleeper(owner))
    until(lambda: not runs(children[0].pid), LIMIT_S)
    handle._process.wait(LIMIT_S)


def test_no_process_that_is_started_meanwhile_holds_the_pipe(children: list[subprocess.Popen[bytes]]) -> None:
    handle = Reaper.start()
    children.append(sleeper(None))
    handle.end_all()
    assert handle._process.poll() == 0
    assert runs(children[0].pid)


def test_the_reaper_itself_carries_no_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OWNER_VARIABLE, new_owner())
    with Reaper.start() as handle:
        assert OWNER_VARIABLE not in psutil.Process(handle._process.pid).environ()


def test_a_reaper_that_is_gone_is_a_message() -> None:
    handle = Reaper.start()
    assert handle.owner
    handle._process.kill()
    handle._process.wait()
    with pytest.raises(EnvironmentNotReady, match="is gone"):
        handle.watch(new_owner())
    handle.release()


def test_a_reaper_that_cannot_start_is_a_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("raise ImportError('no psutil here')")
    monkeypatch.setattr(reaper_process, "__file__", str(broken))
    with pytest.raises(EnvironmentNotReady, match="no psutil here"):
        _ = Reaper.start().owner


def test_a_pid_that_was_given_to_another_process_is_not_killed(
    children: list[subprocess.Popen[bytes]],
) -> None:
    children.append(sleeper(None))
    handle = Reaper.start()
    created_s = psutil.Process(children[0].pid).create_time()
    handle._tell({"own": [children[0].pid, created_s - 60]})
    handle.end_all()
    assert runs(children[0].pid)


PARENT = """
    import subprocess, sys
    child = subprocess.Popen(["sleep", "60"])
    print(child.pid, flush=True)
    sys.stdin.read()
"""


def test_an_orphan_has_ended_even_if_nobody_asks_for_its_end() -> None:
    # So it is in a container whose PID 1 is the user's own program.
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PARENT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        orphan = psutil.Process(int(parent.stdout.readline()))
        end(orphan)
        assert orphan.status() == psutil.STATUS_ZOMBIE


def test_find_owned_tells_whose_a_process_is(children: list[subprocess.Popen[bytes]]) -> None:
    owner = new_owner()
    children += [sleeper(owner), sleeper(new_owner()), sleeper(None)]
    # A child has become its program, and shows its environment, a moment after it was started.
    until(lambda: len(find_owned(owner.__eq__)) == 1, LIMIT_S)
    (found,) = find_owned(owner.__eq__)
    assert (found.pid, found.owner, found.command) == (children[0].pid, owner, "sleep")


def test_a_token_tells_whether_its_harness_is_alive(children: list[subprocess.Popen[bytes]]) -> None:
    assert harness_alive(new_owner())
    script = "from rocketchaos.harness.reaper.reaper import new_owner; print(new_owner())"
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    dead = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()
    assert not harness_alive(dead)
    # This process's id, but of one that was created at another time.
    assert not harness_alive(re.sub(r"^(\d+)-(\d+)", f"{os.getpid()}-1000", dead))
    assert harness_alive("a token of another program")


def test_a_scratch_folder_that_is_removed_is_held_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(paths.CACHE_VARIABLE, str(tmp_path))
    with Reaper.start() as reaper:
        assert reaper.owner
        before = psutil.Process().num_fds()
        for _ in range(3):
            owner = new_owner()
            folder = reaper.scratch(owner)
            reaper.remove_scratch(owner)
            assert not folder.exists()
        assert psutil.Process().num_fds() == before


def test_a_scratch_folder_is_held_until_the_reaper_is_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(paths.CACHE_VARIABLE, str(tmp_path))
    with Reaper.start() as handle:
        folder = handle.scratch(handle.owner)
        assert folder == paths.scratch_root() / handle.owner
        assert handle.scratch(handle.owner) == folder
        assert held(folder)
    assert not held(folder)
    assert not held(tmp_path / "no such folder")


def test_a_scratch_folder_says_which_engines_its_owner_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(paths.CACHE_VARIABLE, str(tmp_path))
    with Reaper.start() as handle:
        folder = handle.scratch(handle.owner)
        assert engines_of(folder) == []
        handle.watch_engine("unix:///nowhere.sock")
        handle.watch_engine("tcp://127.0.0.1:1")
        handle.watch_engine("unix:///nowhere.sock")
        later = handle.scratch(new_owner())
        assert engines_of(folder) == engines_of(later) == ["unix:///nowhere.sock", "tcp://127.0.0.1:1"]


def test_where_the_engine_is_away_processes_end_and_the_folder_stays_as_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, children: list[subprocess.Popen[bytes]]
) -> None:
    monkeypatch.setattr(reaper_process, "_ENGINE_LIMIT_S", 0.0)
    owner = new_owner()
    children.append(sleeper(owner))
    until(lambda: len(find_owned(owner.__eq__)) == 1, LIMIT_S)
    charge = Charge()
    for line in (
        f'{{"token": "{owner}"}}',
        f'{{"remove": "{tmp_path}"}}',
        '{"engine": "unix:///nowhere.sock"}',
    ):
        charge.hear(line.encode())
    charge.end_everything()
    until(lambda: not runs(children[0].pid), LIMIT_S)
    assert tmp_path.exists()
