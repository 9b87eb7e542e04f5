"""One server of RocketMQ as a JVM process of this host."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
import tenacity

from harness.cluster.base import Node, NodeDeath
from harness.errors import EnvironmentNotReady, HarnessDefect
from harness.guardian_process import OWNER_VARIABLE

_REAP_LIMIT_S = 20
_STATE_LIMIT_S = 5
_SHUTDOWN_LIMIT_S = 60
_PORT_TAKEN = "Address already in use"
_BOOTED = "boot success"
# Where the user's shell speaks of another RocketMQ.
_UNWANTED = ("NAMESRV_ADDR", "ROCKETMQ_HOME", "CLASSPATH")


class ServerProcess:
    """A name server or broker, from its start to its end.

    `folder` holds everything it writes: `stdout.log` with what it prints, `server.log` with what it logs.
    """

    def __init__(self, name: str, role: str, address: str, folder: Path, slave_of: str | None = None) -> None:
        self.name = name
        self.role = role
        self.address = address
        self.slave_of = slave_of
        self.folder = folder
        self.log = folder / "server.log"
        self.stdout = folder / "stdout.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._command: tuple[Sequence[str | Path], str] | None = None
        self._ended_by_us = False
        self.paused = False
        """It stands still."""

    def start(self, command: Sequence[str | Path], owner: str) -> None:
        """Start the JVM, in a session of its own: Ctrl-C is for the harness, which then ends its servers.

        Args:
            command: the whole command line.
            owner: the token by which a guardian finds the process.

        Raises:
            EnvironmentNotReady: the system can't start it.
        """
        self._command = command, owner
        self._ended_by_us = self.paused = False
        try:
            with self.stdout.open("wb") as output:
                self._process = subprocess.Popen(
                    command,
                    cwd=self.folder,
                    env=_environment({"ROCKETMQ_HOME": str(self.folder), OWNER_VARIABLE: owner}),
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

    def start_again(self) -> None:
        """Start it with the command line of its last start; what it printed until then is gone, its log goes on.

        Raises:
            EnvironmentNotReady: the system can't start it.
            HarnessDefect: it was never started.
        """
        if self._command is None:
            raise HarnessDefect(f"{self.name} was never started, so that it can't be started again")
        self.start(*self._command)

    @property
    def node(self) -> Node:
        """The server as others see it."""
        pid = None if self._process is None else self._process.pid
        return Node(self.name, self.role, self.address, pid, self.log, self.slave_of)

    @property
    def booted(self) -> bool:
        """It said that it is up, as `NamesrvStartup` and `BrokerStartup` do when all else is done."""
        return _BOOTED in self.printed()

    @property
    def port_taken(self) -> bool:
        """It ended because another program has one of its ports."""
        return self.exit_reason() is not None and _PORT_TAKEN in self.printed()

    def printed(self) -> str:
        """Everything it printed up to now."""
        try:
            return self.stdout.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def exit_reason(self) -> str | None:
        """`exit code 1` or `signal SIGKILL`; None while it runs, and before its start."""
        code = None if self._process is None else self._process.poll()
        if code is None:
            return None
        # Java passes on negative exit codes as 8 bits: -1 arrives as 255.
        return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"

    def death(self) -> NodeDeath | None:
        """How it ended, if nobody asked it to."""
        reason = self.exit_reason()
        if reason is None or self._ended_by_us:
            return None
        last = self.last_lines(1)
        return NodeDeath(self.name, f"{reason}; last line of its log: {last[0].strip()}" if last else reason)

    def last_lines(self, count: int) -> list[str]:
        """The last lines of what it printed or, where that says nothing, of its log."""
        for text in (self.printed(), _end_of(self.log)):
            lines = [
                line for line in text.splitlines() if line.strip() and not line.startswith("load config")
            ]
            if lines:
                return lines[-count:]
        return []

    def pause(self) -> None:
        """SIGSTOP it and wait until it stands still.

        Raises:
            EnvironmentNotReady: it has died, or still runs after 5 s.
        """
        self._signal(signal.SIGSTOP, stands=True)
        self.paused = True

    def resume(self) -> None:
        """SIGCONT it and wait until it goes on.

        Raises:
            EnvironmentNotReady: it has died, or still stands after 5 s.
        """
        self._signal(signal.SIGCONT, stands=False)
        self.paused = False

    def _signal(self, number: signal.Signals, *, stands: bool) -> None:
        """Send it, and wait until the kernel says that it has worked."""
        process = self._process
        if process is None or self.exit_reason() is not None:
            raise EnvironmentNotReady(
                f"{self.name} is gone, so that {number.name} can't reach it", f"Its log: {self.log}"
            )
        process.send_signal(number)
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_result(lambda status: (status == psutil.STATUS_STOPPED) != stands),
            wait=tenacity.wait_fixed(0.002),
            stop=tenacity.stop_after_delay(_STATE_LIMIT_S),
        )
        try:
            retrying(lambda: psutil.Process(process.pid).status())
        except (tenacity.RetryError, psutil.NoSuchProcess) as error:
            raise EnvironmentNotReady(
                f"{self.name} took no notice of {number.name} within {_STATE_LIMIT_S} s",
                f"Its log: {self.log}",
            ) from error

    def terminate(self) -> None:
        """SIGTERM it, upon which RocketMQ shuts down in good order, and wait until it is gone.

        Nothing if it has ended already; it must not be paused.

        Raises:
            EnvironmentNotReady: it doesn't end within 60 s.
        """
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
        """SIGKILL it and wait until it is gone; nothing if it has ended already.

        Raises:
            EnvironmentNotReady: the system doesn't end it.
        """
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


def _end_of(file: Path, limit_bytes: int = 20_000) -> str:
    try:
        with file.open("rb") as content:
            content.seek(max(0, file.stat().st_size - limit_bytes))
            return content.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
