"""Users' programs as processes of this host: the worker is the program itself, with our agent in its JVM.

So a kill, a pause and SIGTERM reach the program, and its exit code is its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.user_files import folder_of, user_class_path, user_file
from rocketchaos.harness.jars.java_home import Java
from rocketchaos.harness.language.app_spec import App
from rocketchaos.harness.reaper.reaper import OWNER_VARIABLE
from rocketchaos.harness.workers.jvm_agent import jvm_agent
from rocketchaos.harness.workers.on_host import LocalProgram, begin
from rocketchaos.harness.workers.program import WorkerPlan
from rocketchaos.harness.workers.program_log import ProgramLog, keep_output

_PLAN = "plan.json"
MARK = "ROCKETCHAOS_PROGRAM"
"""The environment variable by which a program's processes are known, also those that have left its session."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A consumer that the program is expected to start."""

    name: str
    group: str
    subscribe: Mapping[str, Any]
    """By topic, as `start-consumer` has it."""

    def as_json(self) -> dict[str, Any]:
        """As the agent reads it."""
        return {"name": self.name, "group": self.group, "subscribe": dict(self.subscribe)}


def java_program(app: App, scenario_file: str) -> tuple[str, ...]:
    """What follows the options of `java`: which program it is. For paths see `user_file`.

    Raises:
        EnvironmentNotReady: a part of it isn't there.
    """
    hint = "Build it first, or correct `{}` in the scenario."
    if app.main is not None:
        path = user_class_path(app.classpath, scenario_file, hint.format("classpath"))
        return "-cp", os.pathsep.join(path), app.main
    return "-jar", str(user_file(app.jar or "", scenario_file, "the program", hint.format("jar")))


@dataclass(frozen=True, slots=True)
class AppHome:
    """The home of one user's program; see `WorkerHome`."""

    owner: str
    """The label for the clean-up."""
    java: Java
    """Which runs it."""
    app: App
    """With addresses for its placeholders."""
    scenario_file: str
    """In its folder the program runs."""
    expected: Sequence[Expected]
    """The consumers of the scenario that are in it."""
    progress: Callable[[str], None]
    """Told in a few words what takes time."""

    def launch(self, plan: WorkerPlan) -> AppProgram:
        """See `WorkerHome.launch`."""
        agent = jvm_agent(self.java, self.progress)
        folder = plan.folder.absolute()
        mark = secrets.token_hex(16)
        environment = {**os.environ, **self.app.env, OWNER_VARIABLE: self.owner, MARK: mark}
        with contextlib.ExitStack() as not_started:
            mine: list[int] = []

            def command(events_fd: int) -> list[str]:
                mine.append(os.dup(events_fd))
                not_started.callback(os.close, mine[0])
                (folder / _PLAN).write_text(json.dumps(self._plan(events_fd)), encoding="utf-8")
                return self._command(agent.option(folder / _PLAN), folder)

            try:
                folder.mkdir(parents=True, exist_ok=True)
                log = ProgramLog(plan.log)
                not_started.callback(log.close)
                output_fd, write_fd = os.pipe()
                not_started.callback(os.close, output_fd)
                try:
                    process, events = begin(command, write_fd, environment, folder_of(self.scenario_file))
                finally:
                    os.close(write_fd)
            except OSError as error:
                raise EnvironmentNotReady(f"the program of {plan.name} can't be started: {error}") from error
            not_started.pop_all()
        keep_output(output_fd, mine[0], log, process.poll)
        program = AppProgram(plan.name, process, events)
        program.mark = mark
        return program

    def _plan(self, events_fd: int) -> dict[str, Any]:
        return {
            "events": f"/dev/fd/{events_fd}",
            "members": [member.as_json() for member in self.expected],
        }

    def _command(self, agent: str, folder: Path) -> list[str]:
        app = self.app
        return [
            str(self.java.executable),
            # What the client logs goes into the run's folder; what the user says comes later, and wins.
            f"-Drocketmq.client.logRoot={folder}",
            f"-Drocketmq.log.root={folder}",
            f"-Drocketmq.client.localOffsetStoreDir={folder}/offsets",
            f"-XX:ErrorFile={folder}/hs_err_%p.log",
            # Its file in the temporary folder would outlive a SIGKILL.
            "-XX:-UsePerfData",
            agent,
            *app.jvm_args,
            *(f"-D{key}={value}" for key, value in app.properties.items()),
            *java_program(app, self.scenario_file),
            *app.args,
        ]


class AppProgram(LocalProgram):
    """A program with all that it has started: they are in a session of their own.

    One that has left the session carries the mark of its environment still.
    """

    mark = ""
    """The value of `MARK` in its environment; empty: it has none."""

    def kill(self) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self._kill_others()

    def pause(self) -> None:
        if self.poll() is None:
            os.killpg(self.pid, signal.SIGSTOP)
        super().pause()

    def resume(self) -> None:
        if self.poll() is None:
            os.killpg(self.pid, signal.SIGCONT)
        super().resume()

    def close(self) -> None:
        super().close()
        self._kill_others()

    def _kill_others(self) -> None:
        """SIGKILL what it has started, wherever that is by now."""
        for process in self.family():
            with contextlib.suppress(psutil.Error, OSError):
                process.kill()

    def family(self) -> Iterator[psutil.Process]:
        """Its processes, itself included."""
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if os.getsid(process.pid) == self.pid or (
                    self.mark and process.environ().get(MARK) == self.mark
                ):
                    yield process
