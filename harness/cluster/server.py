"""One server of RocketMQ, wherever it runs, from its start to its end."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from rocketchaos.harness.cluster.base import Node, NodeDeath

BOOTED = "boot success"
"""What `NamesrvStartup` and `BrokerStartup` say last."""
_VANISHED_INTERFACE = "NetworkUtil.getLocalAddress"
_TRIES_AT_MOST = 2
_END_BYTES = 20_000
_NO_REASON_IN = "load config"
"""How the first lines of what a server prints begin, which say nothing of why it ended."""


class Server(ABC):
    """A name server, broker or whatever else belongs to a cluster.

    `folder` holds what this host sees of it: its configuration, and `server.log` with what it logs.
    """

    says: ClassVar[str] = BOOTED
    """The line that it prints once it is up."""

    def __init__(
        self,
        name: str,
        role: str,
        address: str,
        folder: Path,
        slave_of: str | None = None,
        registered: str | None = None,
    ) -> None:
        """
        Args:
            name: the node's.
            role: the node's.
            address: `host:port` at which this host reaches it.
            folder: see the class.
            slave_of: the node's.
            registered: `host:port` under which the name server knows it, where that is another.
        """
        self.name = name
        self.role = role
        self.address = address
        self.registered = registered or address
        self.slave_of = slave_of
        self.folder = folder
        self.log = folder / "server.log"
        self.paused = False
        """It stands still."""
        self._ended_by_us = False
        self.restarts = 0
        """How often it was restarted because it had ended before it was up."""

    @property
    @abstractmethod
    def pid(self) -> int | None:
        """Its process id on this host, also of one that has ended; None if it has none here."""

    @property
    def container(self) -> str | None:
        """The id of its container; None: it runs in none."""
        return None

    @abstractmethod
    def start(self) -> None:
        """Start it. Its earlier output is gone; its log goes on.

        Raises:
            EnvironmentNotReady: it can't be started.
        """

    @abstractmethod
    def printed(self) -> str:
        """Everything it printed since its last start."""

    @abstractmethod
    def exit_reason(self) -> str | None:
        """`exit code 1` or `signal SIGKILL`; None while it runs, and before its start."""

    @abstractmethod
    def pause(self) -> None:
        """Let it stand still, with its connections open.

        Raises:
            EnvironmentNotReady: it has died, or still runs after a while.
        """

    @abstractmethod
    def resume(self) -> None:
        """Let it go on.

        Raises:
            EnvironmentNotReady: it has died, or still stands after a while.
        """

    @abstractmethod
    def terminate(self) -> None:
        """SIGTERM it, upon which RocketMQ shuts down in good order, and wait until it is gone.

        Nothing if it has ended already; it must not be paused.

        Raises:
            EnvironmentNotReady: it doesn't end in time.
        """

    @abstractmethod
    def kill(self) -> None:
        """SIGKILL it and wait until it is gone; nothing if it has ended already.

        Raises:
            EnvironmentNotReady: the system doesn't end it.
        """

    def remove(self) -> None:
        """Kill it, and remove what of it is outside of its folder. Idempotent."""
        self.kill()

    @property
    def port_taken(self) -> bool:
        """It ended because another program has one of its ports."""
        return False

    def tries_again(self) -> bool:
        """Restart it, at most twice, after it ended before it was up; False: the reason won't pass."""
        if self.restarts >= _TRIES_AT_MOST or not self.reason_may_pass:
            return False
        self.restarts += 1
        self.start()
        return True

    @property
    def reason_may_pass(self) -> bool:
        """Whether what ended it may be gone next time.

        5.x looks for this host's address among its network interfaces, and fails where one vanishes meanwhile, as
        those of containers do (`NetworkUtil.getLocalAddress`, NullPointerException; 5.5.0).
        """
        return _VANISHED_INTERFACE in self.printed()

    def why_not_up(self) -> str | None:
        """Why it can't be used yet; None once it says that it is up, as RocketMQ does when all else is done."""
        return None if self.says in self.printed() else "it hasn't said that it is up"

    @property
    def node(self) -> Node:
        """The server as others see it."""
        return Node(self.name, self.role, self.address, self.pid, self.log, self.slave_of, self.container)

    def excuse_end(self) -> None:
        """Its end is no death."""
        self._ended_by_us = True

    def death(self) -> NodeDeath | None:
        """How it ended, if it ended unexpectedly."""
        reason = None if self._ended_by_us else self.exit_reason()
        if reason is None:
            return None
        last = self.last_lines(1)
        return NodeDeath(self.name, f"{reason}; last line of its log: {last[0].strip()}" if last else reason)

    def last_lines(self, count: int) -> list[str]:
        """The last lines of its output or, if that is empty, of its log."""
        for text in (self.printed(), _end_of(self.log)):
            lines = [
                line for line in text.splitlines() if line.strip() and not line.startswith(_NO_REASON_IN)
            ]
            if lines:
                return lines[-count:]
        return []


def _end_of(file: Path) -> str:
    try:
        with file.open("rb") as content:
            content.seek(max(0, file.stat().st_size - _END_BYTES))
            return content.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
