"""Free ports on this host, for servers that are about to start.

A port that is free now can be taken a moment later. So ports are drawn at random from a wide range, below the
one from which the system takes ports for outgoing connections, and whoever loses one tries again with others.
"""

import contextlib
import random
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem

_LOWEST = 10_000
_HIGHEST = 60_000
_DRAWS = 2_000


@dataclass(frozen=True, slots=True)
class ServerPorts:
    """The ports of one cluster."""

    name_servers: Sequence[int]
    brokers: Sequence[int]
    """A `listenPort` for each broker; the broker takes its neighbours too, see `broker_ports`."""
    proxy: tuple[int, int] | None = None
    """The proxy's, for gRPC and for remoting; None: there is none."""
    controller: int | None = None
    """The controller's; None: there is none."""


def broker_ports(listen_port: int) -> tuple[int, int, int]:
    """All ports that a broker opens: `listenPort`, the fast one 2 below, the one for replicas 1 above.

    As `BrokerController` (fast remoting server) and `BrokerStartup` (haListenPort) of 4.9.4 and 5.3.3 do.
    """
    return listen_port - 2, listen_port, listen_port + 1


def choose(
    broker_count: int,
    nameserver: int | None = None,
    *,
    with_proxy: bool = False,
    name_servers: int = 1,
    with_controller: bool = False,
) -> ServerPorts:
    """Free ports for name servers, brokers, a proxy and a controller, none of them used twice.

    Args:
        broker_count: how many brokers there will be.
        nameserver: a port that the user asked for, of the first name server; free or not is checked by
            `require_free`.
        with_proxy: there will be a proxy.
        name_servers: how many name servers there will be.
        with_controller: there will be a controller.

    Raises:
        EnvironmentNotReady: there are no free ports.
    """
    taken: set[int] = set() if nameserver is None else {nameserver}
    if nameserver is None:
        nameserver = _draw(taken, 1)
    others = [_draw(taken, 1) for _ in range(1, name_servers)]
    brokers = [_draw(taken, 3) for _ in range(broker_count)]
    proxy = (_draw(taken, 1), _draw(taken, 1)) if with_proxy else None
    controller = _draw(taken, 1) if with_controller else None
    return ServerPorts([nameserver, *others], brokers, proxy, controller)


def is_free(port: int) -> bool:
    """Whether a server could listen on the port now, on every address as RocketMQ 4.9.x does."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As RocketMQ's servers do: ports of connections that just ended don't stand in the way.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))
            probe.listen(1)
        except OSError:
            return False
    return True


def require_free(port: int) -> None:
    """Make sure that a server can listen on a port that the user asked for.

    Raises:
        UsageProblem: there is no such port.
        EnvironmentNotReady: it is taken, by whom if that can be seen, or this user may not open it.
    """
    if not 1 <= port <= 65_535:
        raise UsageProblem(f"there is no port {port}", "Ports are numbers from 1 to 65535.")
    if is_free(port):
        return
    holder = holder_of(port)
    raise EnvironmentNotReady(
        f"port {port} is taken by {holder}"
        if holder
        else f"port {port} is taken, or not for this user to open",
        "End that program, or ask for another port.",
    )


def holder_of(port: int) -> str | None:
    """The process that listens on the port, as `java (pid 4711)`, where this user may see it."""
    # On some systems only an administrator sees the connections of others.
    with contextlib.suppress(psutil.Error, OSError):
        for connection in psutil.net_connections(kind="tcp"):
            is_there = connection.laddr and connection.laddr.port == port
            if is_there and connection.status == psutil.CONN_LISTEN and connection.pid:
                return f"{psutil.Process(connection.pid).name()} (pid {connection.pid})"
    return None


def _draw(taken: set[int], width: int) -> int:
    """A free port, or for `width` 3 the middle one of a broker's; all are added to `taken`."""
    highest = _highest()
    for _ in range(_DRAWS):
        port = random.randint(_LOWEST + 2, highest - 1)
        wanted = {port} if width == 1 else set(broker_ports(port))
        if not wanted & taken and all(is_free(each) for each in wanted):
            taken |= wanted
            return port
    raise EnvironmentNotReady(
        f"no free ports were found between {_LOWEST} and {highest}", "End programs that hold many ports."
    )


def _highest() -> int:
    """The last port below those for outgoing connections, where that is known and leaves enough."""
    try:
        first_outgoing = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return _HIGHEST
    return first_outgoing - 1 if first_outgoing > _LOWEST + 1_000 else _HIGHEST
