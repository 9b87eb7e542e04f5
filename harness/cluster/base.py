"""The abilities of all clusters, and those of some.

A scenario that needs a capability which the cluster lacks is refused before anything starts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from rocketchaos.harness.cluster.delay_line import DelayLine
from rocketchaos.harness.language.cluster_needs import ProxyMode
from rocketchaos.harness.rocketmq.timing_profiles import TimingProfile

if TYPE_CHECKING:
    from rocketchaos.harness.containers.sidecar import Sidecars
    from rocketchaos.harness.workers.container_place import ContainerPlace
    from rocketchaos.harness.workers.program import WorkerHome


@dataclass(frozen=True, slots=True)
class Node:
    """One server of a cluster."""

    name: str
    """`nameserver`, `nameserver-2`, the broker's name (`broker-a`), or its role where there is one of a kind."""
    role: str
    """`nameserver`, `broker`, `proxy` or `dashboard`."""
    address: str
    """`host:port` that clients use."""
    pid: int | None
    """On this host; None if the node isn't a process of this host."""
    log: Path
    """The server's own log: text, growing while it runs."""
    slave_of: str | None = None
    """The master of this slave; None: it is a master, or no broker."""
    container: str | None = None
    """The id of the container in which it runs; None: it runs in none."""

    @property
    def process(self) -> str:
        """What runs it, for messages: `process 4711`, or a container where that has no process here."""
        return f"process {self.pid}" if self.pid else f"container {str(self.container)[:12]}"

    @property
    def is_master(self) -> bool:
        """It is a broker that takes messages."""
        return self.role == "broker" and self.slave_of is None


@dataclass(frozen=True, slots=True)
class Proxy:
    """The proxy of 5.x, as clients reach it."""

    mode: ProxyMode
    grpc_endpoint: str
    """`host:port` for clients that speak gRPC."""
    remoting_address: str
    """`host:port` for clients that speak remoting; it answers for routes too, as a name server does."""


@dataclass(frozen=True, slots=True)
class NodeDeath:
    """A node that ended unexpectedly."""

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
    """How often starting was tried; above 1 where a port was taken, or a server ended for what may pass."""

    def start(self) -> None:
        """Start every node and return when clients can work: brokers registered, ports answering.

        Raises:
            EnvironmentNotReady: a node can't start; the message has the reason and the end of its log.
        """

    def stop(self) -> None:
        """End every node. Idempotent, never raises for a node that is gone already."""

    @property
    def nameserver(self) -> str:
        """`host:port` of the name server, several with `;` between them, as RocketMQ's clients take them."""

    @property
    def nodes(self) -> Sequence[Node]:
        """All nodes, the name servers first."""

    @property
    def dashboard(self) -> str | None:
        """The address of the dashboard's page, `http://127.0.0.1:port`; None if there is none."""

    @property
    def proxy(self) -> Proxy | None:
        """The proxy of 5.x; None if there is none."""

    @property
    def images(self) -> Mapping[str, str]:
        """The ids of the container images that it runs, by name; none if it runs in none."""

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
class Stoppable(Protocol):
    """Nodes can be shut down in good order."""

    def stop_node(self, name: str) -> None:
        """Shut the node down (SIGTERM) and wait until it is gone.

        Raises:
            KeyError: there is no such node.
            EnvironmentNotReady: it doesn't end in time.
        """


@runtime_checkable
class Pausable(Protocol):
    """Nodes can be stopped with SIGSTOP, and go on with SIGCONT."""

    def pause_node(self, name: str) -> None:
        """SIGSTOP the node and wait until it stands still; its connections stay open.

        Raises:
            KeyError: there is no such node.
            EnvironmentNotReady: it has died, or doesn't stand still.
        """

    def resume_node(self, name: str) -> None:
        """SIGCONT the node and wait until it goes on.

        Raises:
            KeyError: there is no such node.
            EnvironmentNotReady: it has died, or doesn't go on.
        """


@runtime_checkable
class OnThisHost(Protocol):
    """Nodes are processes that this user may send signals to."""

    def host_pid(self, name: str) -> int:
        """The node's process id on this host.

        Raises:
            KeyError: there is no such node.
            EnvironmentNotReady: it has died.
        """


@runtime_checkable
class Restartable(Protocol):
    """Nodes can be started again, with their store, port and address."""

    def restart_node(self, name: str) -> None:
        """Shut the node down in good order (SIGTERM), unless it is gone already, and start it again.

        Returns when it is ready: a broker once it is registered and answers; the name server once it answers
        and all brokers that run have registered again, each by its own timer.

        Raises:
            KeyError: there is no such node.
            NodeEnded: it ends as it starts.
            EnvironmentNotReady: it doesn't end, can't be started, or isn't ready in time.
        """

    def excuse_end(self, name: str) -> None:
        """The node has ended, and may: it is no death that `deaths` reports, until it is started again.

        Raises:
            KeyError: there is no such node.
        """


@runtime_checkable
class Fillable(Protocol):
    """A broker can be made to take its disk for full."""

    def fill_disk(self, broker: str) -> None:
        """Restart the broker so that it refuses messages however much of its disk is free.

        It is full from its first look at the disk on, about a second later, and after every restart.

        Raises:
            KeyError: there is no such node.
            EnvironmentNotReady: as `Restartable`.
        """

    def free_disk(self, broker: str) -> None:
        """Restart the broker so that it takes messages; otherwise as `fill_disk`."""


@runtime_checkable
class Upgradable(Protocol):
    """A broker can get another version of RocketMQ."""

    def upgrade_node(self, broker: str, version: str) -> None:
        """Restart the broker from the jars of this version, which it keeps; otherwise as `Restartable`.

        Raises:
            KeyError: there is no such node.
            EnvironmentNotReady: as `Restartable`; or the jars are missing, and can't be downloaded.
        """


@runtime_checkable
class Configurable(Protocol):
    """Brokers and their number are the scenario's own, and so is their configuration."""

    @property
    def broker_configuration(self) -> dict[str, str]:
        """Lines of broker.conf with which the brokers started."""


@runtime_checkable
class Partitionable(Protocol):
    """Traffic between nodes, and between nodes and clients in their own containers, can be delayed or dropped."""

    @property
    def sidecars(self) -> Sidecars:
        """What changes the networks of its containers."""


@runtime_checkable
class Delayable(Protocol):
    """Clients can be made to wait for what a broker answers."""

    def delay_line(self, broker: str) -> DelayLine:
        """What delays this broker, which was said to be delayed before the start.

        Raises:
            KeyError: there is no such broker, or it wasn't.
        """


@runtime_checkable
class Dashboarded(Protocol):
    """RocketMQ's dashboard can run too."""

    @property
    def dashboard_version(self) -> str | None:
        """The version of the dashboard; None if none was asked for."""


@runtime_checkable
class LocalProxied(Protocol):
    """Its proxy can be in one process with the broker."""

    @property
    def proxy_mode(self) -> ProxyMode | None:
        """How its proxy runs; None if there is none."""


@runtime_checkable
class Networked(Protocol):
    """It has a network of its own, on which workers can live in containers too."""

    @property
    def only_inside(self) -> bool:
        """Only there do the servers' addresses lead to them: no client can live elsewhere."""

    def worker_home(self) -> WorkerHome:
        """Where they live.

        Raises:
            EnvironmentNotReady: there is no image for them.
        """

    def place(self) -> ContainerPlace:
        """The same for containers of other images, once it is up."""


@runtime_checkable
class Named(Protocol):
    """Its brokers can advertise names."""

    @property
    def hosts_file(self) -> Path | None:
        """Their addresses, as in `/etc/hosts`, for hosts that can't resolve them; None: there are none."""


@runtime_checkable
class Losing(Protocol):
    """Files of its brokers can be deleted from this host."""

    def store(self, name: str) -> Path:
        """Where a broker stores everything (storePathRootDir)."""


@runtime_checkable
class FlowControlled(Protocol):
    """Its brokers can be made to limit pulls."""

    @property
    def flow_control(self) -> bool:
        """Whether they answer pulls with FLOW_CONTROL."""


@runtime_checkable
class Guarded(Protocol):
    """Its brokers can have access control."""

    @property
    def access_key_file(self) -> Path | None:
        """The access key of an administrator, as `diagnose --access-key-file` reads it; None: there is none."""


@runtime_checkable
class ManyNamed(Protocol):
    """It can have several name servers, and brokers that register with some of them alone."""

    @property
    def registers_with(self) -> Mapping[str, Sequence[str]]:
        """The brokers that do so, with the name servers' names."""


@runtime_checkable
class Electing(Protocol):
    """Its brokers' masters can be elected by a controller."""

    @property
    def controller(self) -> str | None:
        """`host:port` of the controller; None if there is none, and before `start`."""


CAPABILITIES: Mapping[str, type] = MappingProxyType(
    {
        "kill": Killable,
        "stop": Stoppable,
        "pause": Pausable,
        "stall": OnThisHost,
        "restart": Restartable,
        "fill a disk": Fillable,
        "lose files": Losing,
        "upgrade": Upgradable,
        "configure": Configurable,
        "partition": Partitionable,
        "delay": Delayable,
        "dashboard": Dashboarded,
        "proxy: local": LocalProxied,
        "container workers": Networked,
        "hostnames": Named,
        "flow control": FlowControlled,
        "access control": Guarded,
        "several name servers": ManyNamed,
        "controller": Electing,
    }
)
"""The abilities of some clusters, by their names in a scenario's `required_capabilities`."""


def lacking(cluster: type | object, required: Collection[str]) -> tuple[str, ...]:
    """Those of the required capabilities that a cluster, or a kind of clusters, doesn't have."""
    return tuple(
        sorted(
            name
            for name in required
            # `isinstance` can't be asked of a class, and `issubclass` not of protocols with properties.
            if not all(hasattr(cluster, member) for member in _members(CAPABILITIES[name]))
        )
    )


def _members(protocol: type) -> list[str]:
    return [name for name in vars(protocol) if not name.startswith("_")]
