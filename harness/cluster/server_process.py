"""A server as a JVM process of this host."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from rocketchaos.harness.cluster.server import Server
from rocketchaos.harness.core import process_state
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.reaper.reaper_process import OWNER_VARIABLE

_REAP_LIMIT_S = 20
_SHUTDOWN_LIMIT_S = 60
_PORT_TAKEN = "Address already in use"
# The user's shell may name another RocketMQ.
_UNWANTED = ("NAMESRV_ADDR", "ROCKETMQ_HOME", "CLASSPATH")


class ServerProcess(Server):
    """A server as a JVM process of this host; `stdout.log` in its folder has what it prints."""

    def __init__(
        self,
        name: str,
        role: str,
        address: str,
        folder: Path,
        slave_of: str | None = None,
        *,
        command: Sequence[str | Path],
        owner: str,
    ) -> None:
        """As `Server`, and:

        Args:
            command: the whole command line of the next start.
            owner: the token by which a reaper finds the process.
        """
        super().__init__(name, role, address, folder, slave_of)
        self.command = command
        self._owner = owner
        self._stdout = folder / "stdout.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the JVM, in a session of its own: Ctrl-C is for the harness, which then ends its servers."""
        try:
            with self._stdout.open("wb") as output:
                self._process = subprocess.Popen(
                    self.command,
                    cwd=self.folder,
                    env=_environment({"ROCKETMQ_HOME": str(self.folder), OWNER_VARIABLE: self._owner}),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            raise EnvironmentNotReady(
                f"{self.name} can't be started: {error.strerror}: {error.filename}",
                "Check Java and the free disk space.",
            ) from error
        # Only now: until then the process that was killed or stopped before is the one that others ask about.
        self._ended_by_us = self.paused = False

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def port_taken(self) -> bool:
        """It ended because another program has one of its ports."""
        return self.exit_reason() is not None and _PORT_TAKEN in self.printed()

    def printed(self) -> str:
        try:
            return self._stdout.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def exit_reason(self) -> str | None:
        code = None if self._process is None else self._process.poll()
        if code is None:
            return None
        # Java passes on negative exit codes as 8 bits: -1 arrives as 255.
        return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"

    def pause(self) -> None:
        process_state.stand_still(self._process, self.name, f"Its log: {self.log}")
        self.paused = True

    def resume(self) -> None:
        process_state.go_on(self._process, self.name, f"Its log: {self.log}")
        self.paused = False

    def terminate(self) -> None:
        self._ended_by_us = self._ended_by_us or self.exit_reason() is None
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            self._process.wait(_SHUTDOWN_LIMIT_S)
        except subprocess.TimeoutExpired as error:
            raise EnvironmentNotReady(
                f"{self.name} (pid {self._process.pid}) didn't shut down within {_SHUTDOWN_LIMIT_S} s",
                f"Its log: {self.log}",
            ) from error

    def kill(self) -> None:
        self._ended_by_us = self._ended_by_us or self.exit_reason() is None
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        try:
            self._process.wait(_REAP_LIMIT_S)
        except subprocess.TimeoutExpired as error:
            raise EnvironmentNotReady(
                f"{self.name} (pid {self._process.pid}) outlived SIGKILL by {_REAP_LIMIT_S} s",
                "It may hang in a call to the disk.",
            ) from error


def _environment(additions: Mapping[str, str]) -> dict[str, str]:
    environment = {key: value for key, value in os.environ.items() if key not in _UNWANTED}
    return environment | dict(additions)
