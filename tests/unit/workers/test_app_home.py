"""Users' programs as processes: the handling alone, with a shell script in place of a JVM."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import Any

import psutil
import pytest
from tenacity import retry, stop_after_delay, wait_fixed

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.events.clients import OutputCut
from rocketchaos.harness.jars.java_home import Java
from rocketchaos.harness.language.app_spec import App
from rocketchaos.harness.workers import app_home, program_log
from rocketchaos.harness.workers.app_home import AppHome, AppProgram, Expected, java_program
from rocketchaos.harness.workers.jvm_agent import JvmAgent
from rocketchaos.harness.workers.program import WorkerPlan
from rocketchaos.harness.workers.worker_kinds import KINDS

PROGRAM = """\
#!/bin/sh
sleep 600 &
echo "$! $C $PWD $@" > {said}
wait
"""
JAR = App(jar="a.jar")

Launch = Callable[..., AppProgram]


@pytest.fixture
def launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Launch]:
    """Starts this script in place of a JVM."""
    begun: list[AppProgram] = []

    def of(body: str, mode: int = 0o755) -> AppProgram:
        script = tmp_path / "java"
        script.write_text(body)
        script.chmod(mode)
        java = Java(tmp_path, script, 17, "PATH", script, full_jdk=False)
        monkeypatch.setattr(
            app_home, "jvm_agent", lambda *_: JvmAgent(Path("/agent.jar"), (Path("/lib.jar"),))
        )
        app = App(jar="a.jar", args=("x",), jvm_args=("-Xmx1g",), properties={"b": "1"}, env={"C": "d"})
        expected = [Expected("a", "g", {"orders": "tagA"})]
        (tmp_path / "a.jar").touch()
        home = AppHome("owner", java, app, str(tmp_path / "own.scenario.yaml"), expected, print)
        begun.append(home.launch(WorkerPlan(KINDS["app"], "a", tmp_path / "a", tmp_path / "a.log")))
        return begun[-1]

    yield of
    for launched in begun:
        if launched.poll() is None:
            os.killpg(launched.pid, signal.SIGKILL)


@pytest.fixture
def program(launch: Launch, tmp_path: Path) -> AppProgram:
    """A program that has started another one."""
    return launch(PROGRAM.format(said=tmp_path / "said"))


@retry(stop=stop_after_delay(10), wait=wait_fixed(0.02))
def said(folder: Path) -> list[str]:
    words = (folder / "said").read_text().split()
    assert words
    return words


@retry(stop=stop_after_delay(10), wait=wait_fixed(0.02))
def gone(pid: int) -> None:
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@retry(stop=stop_after_delay(10), wait=wait_fixed(0.02))
def stopped(pid: int) -> None:
    """A signal to a group reaches its processes one after the other."""
    assert psutil.Process(pid).status() == psutil.STATUS_STOPPED


def test_the_program_is_started_as_it_is_with_our_agent(program: AppProgram, tmp_path: Path) -> None:
    _, env, folder, *command = said(tmp_path)
    assert (env, folder) == ("d", str(tmp_path))
    assert command[-5:] == ["-Xmx1g", "-Db=1", "-jar", str(tmp_path / "a.jar"), "x"]
    assert f"-javaagent:/agent.jar={tmp_path / 'a' / 'plan.json'}{os.pathsep}/lib.jar" in command
    plan = json.loads((tmp_path / "a" / "plan.json").read_text())
    assert plan["members"] == [{"name": "a", "group": "g", "subscribe": {"orders": "tagA"}}]
    program.kill()
    program.wait(10)
    program.close()


def test_a_kill_takes_along_what_it_has_started(program: AppProgram, tmp_path: Path) -> None:
    child = int(said(tmp_path)[0])
    program.pause()
    stopped(child)
    program.resume()
    program.kill()
    assert program.wait(10) == -9
    program.close()
    gone(child)


def test_what_it_leaves_behind_at_its_end_is_ended(program: AppProgram, tmp_path: Path) -> None:
    child = int(said(tmp_path)[0])
    program.terminate()
    program.wait(10)
    program.close()
    gone(child)


def test_a_jar_is_beside_the_scenario_or_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside, current = tmp_path / "scenarios", tmp_path / "current"
    for folder in (beside, current):
        folder.mkdir()
    monkeypatch.chdir(current)
    scenario = str(beside / "s.scenario.yaml")
    with pytest.raises(EnvironmentNotReady, match=f"{beside}/a.jar, {current}/a.jar"):
        java_program(JAR, scenario)
    (current / "a.jar").touch()
    assert java_program(JAR, scenario) == ("-jar", str(current / "a.jar"))
    (beside / "a.jar").touch()
    assert java_program(JAR, scenario) == ("-jar", str(beside / "a.jar"))
    assert java_program(App(jar=str(current / "a.jar")), scenario) == ("-jar", str(current / "a.jar"))


def test_a_class_is_started_with_its_class_path(tmp_path: Path) -> None:
    scenario = str(tmp_path / "s.scenario.yaml")
    app = App(main="shop.Main", classpath=("classes", "lib/*", "shop.jar"))
    (tmp_path / "lib").mkdir()
    (tmp_path / "classes").mkdir()
    (tmp_path / "shop.jar").touch()
    with pytest.raises(EnvironmentNotReady, match=r"`lib/\*` of the class path doesn't exist"):
        java_program(app, scenario)
    (tmp_path / "lib" / "client.jar").touch()
    path = f"{tmp_path}/classes:{tmp_path}/lib/*:{tmp_path}/shop.jar"
    assert java_program(app, scenario) == ("-cp", path, "shop.Main")


def test_the_scenario_of_a_run_folder_is_seen_from_where_it_lay(tmp_path: Path) -> None:
    folder, run = tmp_path / "shop", tmp_path / "run"
    for made in (folder, run):
        made.mkdir()
    (folder / "a.jar").touch()
    (run / "run.json").write_text(json.dumps({"scenario_file": str(folder / "s.scenario.yaml")}))
    assert java_program(JAR, str(run / "scenario.yaml")) == ("-jar", str(folder / "a.jar"))
    # A relative one starts where the run was started.
    record = {"scenario_file": "shop/s.scenario.yaml", "working_folder": str(tmp_path)}
    (run / "run.json").write_text(json.dumps(record))
    assert java_program(JAR, str(run / "scenario.yaml")) == ("-jar", str(folder / "a.jar"))
    (run / "run.json").write_text("{")
    with pytest.raises(EnvironmentNotReady, match="the program doesn't exist"):
        java_program(JAR, str(run / "scenario.yaml"))


def told(program: AppProgram) -> list[dict[str, Any]]:
    """Its events, up to their end; its log is complete then."""
    return [json.loads(line) for line in program.events]


@pytest.mark.parametrize(
    "ends",
    ["", "sleep 600 & exit 3", "sleep 600 & kill -9 $$"],
    ids=["by itself", "with a child", "by a kill"],
)
def test_what_it_prints_beyond_the_limit_is_left_out_and_reported(
    launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    monkeypatch.setattr(program_log, "LOG_LIMIT_BYTES", 100_000)
    (tmp_path / "a.log").write_bytes(b"earlier\n")
    # As a JVM, which keeps its event pipe from whatever it starts.
    alone = 'for fd in {3..99}; do eval "exec $fd>&-"; done'
    program = launch(f"#!/bin/bash\n{alone}\nyes 123456789 | head -c 5000000\necho last words >&2\n{ends}\n")
    program.wait(20)
    (cut,) = told(program)
    text = (tmp_path / "a.log").read_bytes()
    assert text.startswith(b"earlier\n123456789\n")
    assert text.endswith(b"last words\n")
    note = f"\n[rocketchaos: {cut['data']['left_out_bytes']} bytes are left out here]\n".encode()
    assert (cut["kind"], cut["data"]["log"], text.count(note)) == ("output-cut", "a.log", 1)
    assert len(text) - len(note) + cut["data"]["left_out_bytes"] == 5_000_000 + len("earlier\nlast words\n")
    program.close()


def test_what_it_prints_up_to_the_limit_is_all_there(launch: Launch, tmp_path: Path) -> None:
    program = launch("#!/bin/sh\nhead -c 3000000 /dev/zero\n")
    program.wait(20)
    assert told(program) == []
    assert (tmp_path / "a.log").read_bytes() == bytes(3_000_000)
    program.close()


def test_what_a_full_disk_does_not_take_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = program_log.ProgramLog(tmp_path / "a.log")
    log.write(b"12345")

    class Full(FileIO):
        def write(self, data: object) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(log, "_file", Full(tmp_path / "a.log", "ab"))
    log.write(b"678")
    assert log.close() == OutputCut(log="a.log", left_out_bytes=3)
    assert (tmp_path / "a.log").read_bytes() == b"12345"


def test_a_program_that_can_not_be_started_leaves_nothing_open(launch: Launch) -> None:
    before = set(Path("/dev/fd").iterdir())
    with pytest.raises(EnvironmentNotReady, match="can't be started"):
        launch("no program\n", mode=0o644)
    assert set(Path("/dev/fd").iterdir()) == before
