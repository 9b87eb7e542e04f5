"""Containers and networks as everybody here makes them: through testcontainers, labelled, and bounded."""

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docker import types
from docker.errors import APIError
from docker.models.containers import Container
from docker.models.networks import Network as DockerNetwork
from testcontainers.core.container import DockerContainer

from rocketchaos.harness.containers.container_engine import Engine, refusals
from rocketchaos.harness.core.errors import EnvironmentNotReady

_POOL = ipaddress.IPv4Network("198.18.0.0/15")
"""Reserved for tests of networks (RFC 2544): it clashes with no LAN or VPN."""
PREFIX = 26
"""62 addresses a network, 2048 networks."""
MANY_PREFIX = 24
"""254 addresses, for all workers of all runs that share a cluster."""
_OVERLAPS = "overlap"


@dataclass(frozen=True, slots=True)
class Subnet:
    """A network of containers of ours."""

    network: DockerNetwork
    addresses: ipaddress.IPv4Network

    def address(self, index: int) -> str:
        """Its address number so and so; 1 is the host's."""
        return str(self.addresses[index])


def make_network(engine: Engine, name: str, labels: Mapping[str, str], prefix: int = PREFIX) -> Subnet:
    """A bridge network with this many addresses of its own, which no other network of this engine has.

    Raises:
        EnvironmentNotReady: the engine refuses, or all addresses are taken.
    """
    with refusals("no network can be made"):
        for addresses in _POOL.subnets(new_prefix=prefix):
            pool = types.IPAMPool(subnet=str(addresses), gateway=str(addresses[1]))
            try:
                network = engine.client.networks.create(
                    name,
                    driver="bridge",
                    labels=dict(labels),
                    ipam=types.IPAMConfig(pool_configs=[pool]),
                )
            except APIError as error:
                # Who else makes networks at the same time is seen here too: the engine decides.
                if _OVERLAPS not in str(error.explanation):
                    raise
                continue
            return Subnet(network, addresses)
    raise EnvironmentNotReady(
        f"all networks of {_POOL} are taken", "`rocketchaos clean` removes what dead harnesses left."
    )


def on_loopback(ports: Iterable[int]) -> dict[int, tuple[str, int | None]]:
    """These ports of a container (`ContainerPlan.published`), at free ones of this host's 127.0.0.1."""
    return dict.fromkeys(ports, ("127.0.0.1", None))


@dataclass(frozen=True, slots=True)
class ContainerPlan:
    """A container to be started."""

    image: str
    name: str
    labels: Mapping[str, str]
    """From `harness.containers.labels.labels_of`."""
    command: Sequence[str] | None = None
    """None: the image's own."""
    environment: Mapping[str, str] = field(default_factory=dict)
    mounts: Mapping[Path, tuple[str, str]] = field(default_factory=dict)
    """Of this host, by path: where, and `ro` or `rw`."""
    subnet: Subnet | None = None
    address: str | None = None
    """Its fixed address there."""
    network_of: str | None = None
    """The id of the container whose network it lives in, instead of a subnet."""
    published: Mapping[int, tuple[str, int | None]] = field(default_factory=dict)
    """Its ports that this host has too, each at `(address, port)`; None for any free port."""
    capabilities: Sequence[str] = ()
    """Linux capabilities: `NET_ADMIN`."""
    keeps_stdin: bool = False
    """Whoever attaches to it first can write to its standard input, and end it."""
    keeps_log: bool = True
    """False: only who is attached to it sees what it prints."""
    entrypoint: Sequence[str] | None = None
    """None: the image's own."""
    user: str | None = None
    """None: the image's own."""


def start(engine: Engine, plan: ContainerPlan) -> Container:
    """Create and start it; nothing of it is left where it can't be started.

    Raises:
        EnvironmentNotReady: there is no such image, or the engine refuses.
    """
    # docker-py takes address and port, and testcontainers hands it on, but has no type for it.
    ports: Any = {f"{port}/tcp": tuple(filter(None, where)) for port, where in plan.published.items()}
    container = DockerContainer(
        plan.image,
        command=None if plan.command is None else list(plan.command),  # type: ignore[arg-type]
        env=dict(plan.environment),
        name=plan.name,
        volumes=[(str(path), bind, mode) for path, (bind, mode) in plan.mounts.items()],
    )
    container.ports = ports
    container.with_kwargs(**_options(engine, plan))
    with refusals(f"the container {plan.name} can't be started"):
        try:
            container.start()
        except BaseException:
            container.stop()
            raise
        return container.get_wrapped_container()


def create(engine: Engine, plan: ContainerPlan) -> Container:
    """Create it, without starting it: whoever attaches to it first misses nothing of what it prints.

    Raises:
        EnvironmentNotReady: there is no such image, or the engine refuses.
    """
    with refusals(f"the container {plan.name} can't be made"):
        return engine.client.containers.create(
            plan.image,
            None if plan.command is None else list(plan.command),
            name=plan.name,
            environment=dict(plan.environment),
            volumes=[f"{path}:{bind}:{mode}" for path, (bind, mode) in plan.mounts.items()],
            **_options(engine, plan),
        )


def published_ports(container: Container) -> dict[int, str]:
    """Where this host has the container's ports, `127.0.0.1:32768` by port, as of its last `reload`."""
    # An image may expose more ports, which are not published.
    return {
        int(port.partition("/")[0]): f"{found[0]['HostIp']}:{found[0]['HostPort']}"
        for port, found in container.attrs["NetworkSettings"]["Ports"].items()
        if found
    }


def _options(engine: Engine, plan: ContainerPlan) -> dict[str, Any]:
    return {
        "labels": dict(plan.labels),
        "cap_add": list(plan.capabilities),
        "stdin_open": plan.keeps_stdin,
        "entrypoint": None if plan.entrypoint is None else list(plan.entrypoint),
        "user": plan.user,
        "log_config": None if plan.keeps_log else types.LogConfig(type=types.LogConfig.types.NONE),
        **_network(engine, plan),
    }


def _network(engine: Engine, plan: ContainerPlan) -> dict[str, Any]:
    if plan.network_of is not None:
        return {"network": None, "network_mode": f"container:{plan.network_of}"}
    if plan.subnet is None:
        return {"network": "none"}
    name = plan.subnet.network.name
    endpoint = engine.client.api.create_endpoint_config(ipv4_address=plan.address)
    return {"network": name, "networking_config": {name: endpoint}}
