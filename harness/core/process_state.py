"""Pause or continue a process of this host, and wait until that shows."""

import signal
from typing import IO, Protocol

import psutil

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.looking import look_until

_STATE_LIMIT_S = 5.0
_LOOK_EVERY_S = 0.002


class HostProcess(Protocol):
    """As `subprocess.Popen`, which has all of these."""

    @property
    def pid(self) -> int:
        """Its process id."""

    @property
    def stdin(self) -> IO[bytes] | None:
        """The pipe into its standard input, if it has one."""

    def poll(self) -> int | None:
        """How it ended; negative: by that signal; None: it hasn't."""

    def wait(self, timeout: float | None = None) -> int:
        """How it ended; raises subprocess.TimeoutExpired if it hasn't."""

    def send_signal(self, sig: int, /) -> None:
        """Nothing if it has ended."""

    def kill(self) -> None:
        """SIGKILL; nothing if it has ended."""

    def terminate(self) -> None:
        """SIGTERM; nothing if it has ended."""


def runs(process: psutil.Process) -> bool:
    """Whether it is there, and no zombie whose parent has not asked for its end."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def stand_still(process: HostProcess | None, who: str, hint: str = "") -> None:
    """SIGSTOP it; returns when the kernel says that it stands still.

    Raises:
        EnvironmentNotReady: it is gone, or still runs after 5 s.
    """
    _send(process, who, signal.SIGSTOP, hint)


def go_on(process: HostProcess | None, who: str, hint: str = "") -> None:
    """SIGCONT it; returns when the kernel says that it runs again.

    Raises:
        EnvironmentNotReady: it is gone, or still stands after 5 s.
    """
    _send(process, who, signal.SIGCONT, hint)


def _send(process: HostProcess | None, who: str, number: signal.Signals, hint: str) -> None:
    if process is not None:
        process.send_signal(number)  # nothing if it has ended
    stands = number == signal.SIGSTOP

    def reacted(status: str) -> bool:
        return status == psutil.STATUS_ZOMBIE or (status == psutil.STATUS_STOPPED) == stands

    status = look_until(lambda: _status(process), reacted, _STATE_LIMIT_S, _LOOK_EVERY_S)
    if not reacted(status):
        raise EnvironmentNotReady(
            f"{who} did not react to {number.name} within {_STATE_LIMIT_S:g} s; last seen: {status}", hint
        )
    if status == psutil.STATUS_ZOMBIE:
        raise EnvironmentNotReady(f"{who} has ended: {number.name} can't reach it", hint)


def _status(process: HostProcess | None) -> str:
    """As psutil names it; what has ended, or was never started, is a zombie here."""
    if process is None or process.poll() is not None:
        return str(psutil.STATUS_ZOMBIE)
    try:
        return str(psutil.Process(process.pid).status())
    except psutil.NoSuchProcess:
        return str(psutil.STATUS_ZOMBIE)
