"""A worker's program, wherever it runs: on this host, or in a container."""

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from rocketchaos.harness.workers.own_program import OwnProgram
from rocketchaos.harness.workers.worker_kinds import WorkerKind


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """A program to start."""

    kind: WorkerKind
    name: str
    """Unique among the workers that log into the same folder."""
    folder: Path
    """What its client writes."""
    log: Path
    """What it prints."""
    classpath: tuple[Path, ...] = ()
    """RocketMQ's jars, of the kind's `classpath_role`."""
    jvm_options: tuple[str, ...] = ()
    """Added to the kind's own, and winning over them."""
    packages: Path | None = None
    """The folder of the kind's `packages`: first on the child's PYTHONPATH."""
    library: Path | None = None
    """The native library that the child loads."""
    program: OwnProgram | None = None
    """What is started; None: the kind's module, by Python."""


@dataclass(frozen=True, slots=True)
class InContainer:
    """The container of a worker, for faults of its network."""

    id: str
    name: str
    address: str
    """On the network of the cluster."""


class Program(Protocol):
    """A program that has been started. Every method may be called from any thread."""

    @property
    def pid(self) -> int:
        """Its process id, as the kernel knows it that runs it: not this host's, if an engine is in a VM.

        Signals go through this protocol alone. 0: it ended before anybody could look.
        """

    @property
    def where(self) -> str:
        """`process 4711`, or `container rocketchaos-...`, for messages."""

    @property
    def container(self) -> InContainer | None:
        """None: it is a process of this host."""

    @property
    def commands(self) -> BinaryIO:
        """Its standard input: to be written to by its file descriptor; closing it is end of file for the child."""

    @property
    def events(self) -> BinaryIO:
        """Everything that it wrote there, also just before its death; then the end of file."""

    @property
    def foreign_clock(self) -> bool:
        """Its monotonic clock is another kernel's."""

    @property
    def ending(self) -> str:
        """How it ended: `exit code 1`, `signal SIGKILL`; to be asked once it has."""

    def poll(self) -> int | None:
        """How it ended; negative: by that signal; None: it hasn't."""

    def wait(self, limit_s: float) -> int:
        """Wait until it has ended, and say how.

        Raises:
            TimeoutError: it hasn't.
        """

    def kill(self) -> None:
        """Send SIGKILL, and don't wait for the end. Does nothing if the program has ended.

        Raises:
            EnvironmentNotReady: a container engine refuses.
        """

    @property
    def stop_signal(self) -> str:
        """The signal of `terminate`: SIGTERM, or that of a container's image."""

    def terminate(self) -> None:
        """Send its stop signal, without waiting for the end; nothing if it has ended.

        Raises:
            EnvironmentNotReady: a container engine refuses.
        """

    def pause(self) -> None:
        """Let it stand still; returns when that shows.

        Raises:
            EnvironmentNotReady: it has ended, or doesn't stand still.
        """

    def resume(self) -> None:
        """Let it go on; returns when that shows.

        Raises:
            EnvironmentNotReady: it has ended, or doesn't go on.
        """

    def close(self) -> None:
        """After its end: leave nothing of it behind. Idempotent.

        Raises:
            EnvironmentNotReady: a container engine refuses.
        """


class WorkerHome(Protocol):
    """The place where workers run: this host, or containers."""

    def launch(self, plan: WorkerPlan) -> Program:
        """Start a program, without waiting until it is ready.

        Raises:
            EnvironmentNotReady: it can't be started.
        """


UNKNOWN_END = 256
"""The end of a process whose exit code only another process learns."""


def ending(returncode: int) -> str:
    """How a process ended: `exit code 1`, `signal SIGKILL`."""
    if returncode == UNKNOWN_END:
        return "unknown exit code"
    if returncode >= 0:
        return f"exit code {returncode}"
    try:
        return f"signal {signal.Signals(-returncode).name}"
    except ValueError:
        return f"signal {-returncode}"
