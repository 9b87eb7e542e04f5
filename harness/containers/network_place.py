"""Where on the network of a cluster somebody lives."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NetworkPlace:
    """Where on the network of a cluster somebody lives: a node, or a client in a container of its own."""

    name: str
    """A consumer's or a node's name, or `producer`."""
    container: str
    """The container's id."""
    addresses: tuple[str, ...]
    """Where others reach it: its own IPv4 address, and before that the advertised one where that is another's."""
    port: int | None = None
    """Where it listens; None: nowhere."""
