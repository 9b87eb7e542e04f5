"""Workers as processes of this host."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import rocketchaos
from rocketchaos.harness.core import process_state
from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect
from rocketchaos.harness.core.process_state import HostProcess
from rocketchaos.harness.jars.class_archive import ClassArchive
from rocketchaos.harness.jars.java_home import Java
from rocketchaos.harness.reaper.reaper_process import OWNER_VARIABLE
from rocketchaos.harness.workers.child_command import child_command, prepare_folder
from rocketchaos.harness.workers.program import WorkerPlan, ending


@dataclass(frozen=True, slots=True)
class OnHost:
    """Each worker is a process with a session of its own: Ctrl-C in the terminal is for the harness to handle."""

    owner: str
    """The label for the clean-up (`ROCKETCHAOS_OWNER` in the environment)."""
    java: Java | None = None
    """Needed by kinds with a class path."""

    def launch(self, plan: WorkerPlan) -> LocalProgram:
        """See `WorkerHome.launch`."""
        command = self.command(plan)
        prepare_folder(plan)
        try:
            with plan.log.open("ab") as output:
                process, events = begin(
                    command, output.fileno(), _environment(os.environ, self.owner, plan.packages)
                )
        except OSError as error:
            raise EnvironmentNotReady(f"worker {plan.name} can't be started: {error}") from error
        return LocalProgram(plan.name, process, events)

    def leave(self, plan: WorkerPlan, *arguments: str) -> None:
        """Start a program that outlives this process and takes no commands from it.

        Args:
            plan: of it.
            arguments: it gets these, too.

        Raises:
            EnvironmentNotReady: it can't be started.
        """
        command = self.command(plan)
        prepare_folder(plan)
        try:
            with plan.log.open("ab") as output, Path(os.devnull).open("r+b") as nothing:
                subprocess.Popen(
                    [*command(nothing.fileno()), *arguments],
                    stdin=nothing,
                    stdout=output,
                    stderr=output,
                    cwd=plan.folder,
                    env=_environment(os.environ, self.owner, plan.packages),
                    start_new_session=True,
                )
        except OSError as error:
            raise EnvironmentNotReady(f"{plan.name} can't be started: {error}") from error

    def command(self, plan: WorkerPlan) -> Callable[[int], Sequence[str]]:
        """Its command line, by the number of its end of the event pipe."""
        if plan.kind.classpath_role is not None and self.java is None:
            raise HarnessDefect(f"worker {plan.name} of kind {plan.kind.name} needs a Java")
        libjvm = None if self.java is None else self.java.libjvm
        archive = None if self.java is None else archive_of(plan, self.java)
        options = () if archive is None else archive.options()
        return lambda events_fd: child_command(plan, sys.executable, events_fd, libjvm, options)


def begin(
    command: Callable[[int], Sequence[str]],
    output_fd: int,
    environment: Mapping[str, str],
    folder: Path | None = None,
) -> tuple[subprocess.Popen[bytes], BinaryIO]:
    """A process in a session of its own, and this end of the pipe into which it writes its events.

    Args:
        command: by the number of its end of that pipe.
        output_fd: where it prints to.
        environment: all of it.
        folder: in which it runs; None: the current one.

    Raises:
        OSError: it can't be started.
    """
    # Neither end is inheritable; pass_fds makes the child's end so in that one child.
    read_fd, write_fd = os.pipe()
    try:
        process = subprocess.Popen(
            command(write_fd),
            stdin=subprocess.PIPE,
            stdout=output_fd,
            stderr=output_fd,
            cwd=folder,
            env=environment,
            pass_fds=(write_fd,),
            start_new_session=True,
            bufsize=0,
        )
    except BaseException:
        os.close(read_fd)
        raise
    finally:
        os.close(write_fd)
    return process, os.fdopen(read_fd, "rb")


def archive_of(plan: WorkerPlan, java: Java) -> ClassArchive | None:
    """The class-data archive of a worker's JVM on this host; None where it has no JVM."""
    role = plan.kind.classpath_role
    return None if role is None else ClassArchive(role, java, with_jpype(plan.classpath))


def with_jpype(classpath: Sequence[Path]) -> Sequence[Path]:
    """The class path that a worker's JVM has in the end: JPype puts its own jar behind all others."""
    jpype = importlib.util.find_spec("jpype")
    own = (
        [] if jpype is None or jpype.origin is None else [Path(jpype.origin).parent.parent / "org.jpype.jar"]
    )
    return (*classpath, *own)


def _environment(inherited: Mapping[str, str], owner: str, packages: Path | None) -> dict[str, str]:
    """The environment, with the client's packages and rocketchaos first; `-P` excludes the current folder."""
    own = Path(rocketchaos.__file__).absolute().parent.parent
    path = os.pathsep.join(str(item) for item in (packages, own, inherited.get("PYTHONPATH")) if item)
    return {**inherited, "PYTHONPATH": path, OWNER_VARIABLE: owner}


class LocalProgram:
    """A process of this host; see `harness.workers.program.Program`."""

    container = None
    foreign_clock = False
    stop_signal = "SIGTERM"

    def __init__(
        self,
        name: str,
        process: HostProcess,
        events: BinaryIO,
        commands: BinaryIO | None = None,
    ) -> None:
        """
        Args:
            name: the worker's, for messages.
            process: its standard input is a pipe, unless `commands` go elsewhere.
            events: this end of its event pipe.
            commands: where its commands are written; None: its standard input.
        """
        self._name = name
        self._process = process
        self.commands: BinaryIO = commands or process.stdin  # type: ignore[assignment]
        assert self.commands is not None
        self.events = events

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def where(self) -> str:
        return f"process {self.pid}"

    @property
    def ending(self) -> str:
        return ending(self._process.wait())

    def poll(self) -> int | None:
        return self._process.poll()

    def wait(self, limit_s: float) -> int:
        try:
            return self._process.wait(limit_s)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"{self.where} runs on") from error

    def kill(self) -> None:
        self._process.kill()

    def terminate(self) -> None:
        self._process.terminate()

    def pause(self) -> None:
        process_state.stand_still(self._process, f"worker {self._name}")

    def resume(self) -> None:
        process_state.go_on(self._process, f"worker {self._name}")

    def close(self) -> None:
        self.events.close()
