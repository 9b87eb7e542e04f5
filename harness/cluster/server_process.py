"""One server of RocketMQ as a JVM process of this host."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.cluster.base import Node, NodeDeath
from harness.errors import EnvironmentNotReady
from harness.guardian_process import OWNER_VARIABLE

_REAP_LIMIT_S = 20
_PORT_TAKEN = "Address already in use"
_BOOTED = "boot success"
# Where the user's shell speaks of another RocketMQ.
_UNWANTED = ("NAMESRV_ADDR", "ROCKETMQ_HOME", "CLASSPATH")


class ServerProcess:
    """A name server or broker, from its start to its end.

    `folder` holds everything it writes: `stdout.log` with what it prints, `server.log` with what it logs.
    """

    def __init__(self, name: str, role: str, address: str, folder: Path) -> None:
        self.name = name
        self.role = role
        self.address = address
        self.folder = folder
        self.log = folder / "server.log"
        self.stdout = folder / "stdout.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._ended_by_us = False

    def start(self, command: Sequence[str | Path], owner: str) -> None:
        """Start the JVM, in a session of its own: Ctrl-C is for the harness, which then ends its servers.

        Args:
            command: the whole command line.
            owner: the token by which a guardian finds the process.

        Raises:
            EnvironmentNotReady: the system can't start it.
        """
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

    @property
    def node(self) -> Node:
        """The server as others see it."""
        pid = None if self._process is None else self._process.pid
        return Node(self.name, self.role, self.address, pid, self.log)

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
