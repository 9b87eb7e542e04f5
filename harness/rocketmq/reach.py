"""Where this host reaches servers whose own addresses lead nowhere from here: those of an engine in a VM.

There servers publish their ports on 127.0.0.1, each at a host port that the engine chooses at every start.
Everybody else, and everything that is written down, goes by the containers' own addresses.
"""

from collections.abc import Mapping

_published: dict[str, Mapping[int, str]] = {}
"""By a container's own address: where its ports are on this host; none while it is down."""


def publish(host: str, ports: Mapping[int, str]) -> None:
    """Send requests for this address elsewhere: `ports` has the new `host:port` by port. No ports: it is down."""
    _published[host] = dict(ports)


def withdraw(host: str) -> None:
    """Nobody has this address any more. Idempotent."""
    _published.pop(host, None)


def reachable(address: str) -> str:
    """Where this host connects to, to get to `host:port`; mostly that itself.

    Raises:
        ConnectionRefusedError: its container is down, or doesn't publish the port.
    """
    host, _, port = address.rpartition(":")
    if host not in _published:
        return address
    try:
        return _published[host][int(port)]
    except KeyError:
        # The container's own address is not tried instead: that would hang.
        raise ConnectionRefusedError(f"{address} has no port on this host now") from None
