"""What every cluster can do, and what some can do besides.

A scenario that needs a capability which the cluster lacks is refused before anything starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from harness.timing import TimingProfile


@dataclass(frozen=True, slots=True)
class Node:
    """One server of a cluster."""

    name: str
    """`nameserver`, or the broker's name: `broker-a`."""
    role: str
    """`nameserver` or `broker`."""
    address: str
    """`host:port` that clients use."""
    pid: int | None
    """On this host; None where the node isn't a process of this host."""
    log: Path
    """The server's own log: text, growing while it runs."""


@dataclass(frozen=True, slots=True)
class NodeDeath:
    """A node that ended though nobody asked it to."""

    node: str
    reason: str
    """`exit code 1`, `signal SIGKILL`, with the last line of its log where that helps."""


class Cluster(Protocol):
    """A RocketMQ: name server and brokers, of one version, under one timing profile."""

    kind: str
    """`embedded` or `containers`."""
    version: str
    timing: TimingProfile
    folder: Path
    """Configuration, stores and logs of the nodes."""
    start_attempts: int
    """How often starting was tried; above 1 where a port was taken by another program in between."""

    def start(self) -> None:
        """Start every node and return when clients can work: brokers registered, ports answering.

        Raises:
            EnvironmentNotReady: a node can't start; the message has the reason and the end of its log.
        """

    def stop(self) -> None:
        """End every node. Idempotent, never raises for a node that is gone already."""

    @property
    def nameserver(self) -> str:
        """`host:port` of the name server."""

    @property
    def nodes(self) -> Sequence[Node]:
        """All nodes, the name server first."""

    def deaths(self) -> Sequence[NodeDeath]:
        """Nodes that ended unasked since the start."""


@runtime_checkable
class Killable(Protocol):
    """Nodes can be killed with SIGKILL."""

    def kill_node(self, name: str) -> None:
        """SIGKILL the node and wait until it is gone.

        Raises:
            KeyError: there is no such node.
        """


@runtime_checkable
class Configurable(Protocol):
    """Brokers start with the scenario's own configuration."""

    broker_configuration: dict[str, str]
