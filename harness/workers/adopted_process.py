"""A process of this host that another process has started."""

import signal
import subprocess
from typing import BinaryIO

import psutil

from rocketchaos.harness.core import process_state
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.workers.program import UNKNOWN_END

_LOOK_EVERY_S = 0.002


class AdoptedProcess:
    """As `subprocess.Popen`, but only its parent learns how it ended."""

    def __init__(self, pid: int, stdin: BinaryIO) -> None:
        """
        Args:
            pid: of it.
            stdin: this end of its standard input.

        Raises:
            psutil.NoSuchProcess: it is gone.
        """
        self.stdin = stdin
        self._process = psutil.Process(pid)
        self._killed = False

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def poll(self) -> int | None:
        """None: it runs. Its end is `-SIGKILL` if this object has killed it, or else `UNKNOWN_END`."""
        if process_state.runs(self._process):
            return None
        return -signal.SIGKILL if self._killed else UNKNOWN_END

    def wait(self, timeout: float | None = None) -> int:
        """Its end.

        Raises:
            subprocess.TimeoutExpired: it runs on.
        """
        limit_s = float("inf") if timeout is None else timeout
        end = look_until(self.poll, lambda code: code is not None, limit_s, _LOOK_EVERY_S)
        if end is None:
            raise subprocess.TimeoutExpired(str(self._process), limit_s)
        return end

    def send_signal(self, sig: int, /) -> None:
        """Nothing if it has ended."""
        try:
            self._process.send_signal(sig)
        except psutil.NoSuchProcess:
            return

    def kill(self) -> None:
        """SIGKILL; nothing if it has ended."""
        if self.poll() is None:
            self._killed = True
            self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """SIGTERM; nothing if it has ended."""
        self.send_signal(signal.SIGTERM)
