"""Users' programs as processes: the handling alone, with a shell script in place of a JVM."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tenacity import retry, stop_after_delay, wait_fixed

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.jars.java_home import Java
from rocketchaos.harness.language.app_spec import App
from rocketchaos.harness.workers import app_home
from rocketchaos.harness.workers.app_home import AppHome, AppProgram, Expected, program_file
from rocketchaos.harness.workers.jvm_agent import JvmAgent
from rocketchaos.harness.workers.program import WorkerPlan
from rocketchaos.harness.workers.worker_kinds import KINDS

PROGRAM = """\
#!/bin/sh
sleep 600 &
echo "$! $C $@" > {said}
wait
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppProgram]:
    """A program that has started another one."""
    script = tmp_path / "java"
    script.write_text(PROGRAM.format(said=tmp_path / "said"))
    script.chmod(0o755)
    java = Java(tmp_path, script, 17, "PATH", script, full_jdk=False)
    monkeypatch.setattr(app_home, "jvm_agent", lambda *_: JvmAgent(Path("/agent.jar"), (Path("/lib.jar"),)))
    app = App(jar="a.jar", args=("x",), jvm_args=("-Xmx1g",), properties={"b": "1"}, env={"C": "d"})
    home = AppHome("owner", java, app, tmp_path / "a.jar", [Expected("a", "g", {"orders": "tagA"})], print)
    launched = home.launch(WorkerPlan(KINDS["app"], "a", tmp_path / "a", tmp_path / "a.log"))
    yield launched
    if launched.poll() is None:
        os.killpg(launched.pid, signal.SIGKILL)


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
    _, env, *command = said(tmp_path)
    assert env == "d"
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
        program_file("a.jar", scenario)
    (current / "a.jar").touch()
    assert program_file("a.jar", scenario) == current / "a.jar"
    (beside / "a.jar").touch()
    assert program_file("a.jar", scenario) == beside / "a.jar"
    assert program_file(str(current / "a.jar"), scenario) == current / "a.jar"


def test_the_scenario_of_a_run_folder_is_seen_from_where_it_lay(tmp_path: Path) -> None:
    folder, run = tmp_path / "shop", tmp_path / "run"
    for made in (folder, run):
        made.mkdir()
    (folder / "a.jar").touch()
    (run / "run.json").write_text(json.dumps({"scenario_file": str(folder / "s.scenario.yaml")}))
    assert program_file("a.jar", str(run / "scenario.yaml")) == folder / "a.jar"
    # A relative one starts where the run was started.
    record = {"scenario_file": "shop/s.scenario.yaml", "working_folder": str(tmp_path)}
    (run / "run.json").write_text(json.dumps(record))
    assert program_file("a.jar", str(run / "scenario.yaml")) == folder / "a.jar"
    (run / "run.json").write_text("{")
    with pytest.raises(EnvironmentNotReady, match="the program doesn't exist"):
        program_file("a.jar", str(run / "scenario.yaml"))
