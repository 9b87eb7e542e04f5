"""Clusters that stay up after the command that started them.

Such a cluster is started under an owner's token of its own (`harness.reaper.reaper.new_owner`), in the scratch
folder of that owner. Its record says that somebody wants it though its harness has ended.
"""

import contextlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from rocketchaos.harness.cluster import readiness
from rocketchaos.harness.cluster.base import Node, NodeDeath, Proxy
from rocketchaos.harness.cluster.server_cluster import ServerCluster
from rocketchaos.harness.containers.removal import remove_things_of
from rocketchaos.harness.core import paths
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.language.cluster_needs import ProxyMode
from rocketchaos.harness.reaper import reaper as reaper
from rocketchaos.harness.reaper.reaper_process import same_process
from rocketchaos.harness.rocketmq.timing_profiles import PROFILES

_RECORD_VERSION = 2
_ID_LENGTH = 6


@dataclass(frozen=True, slots=True)
class RunningNode:
    """One server of a cluster that stays up."""

    name: str
    role: str
    address: str
    log: str
    pid: int
    created_s: float
    """Unix time; with the pid it names one process and no other."""
    container: str | None = None
    """The id of the container in which the process is; None: in none."""

    @property
    def alive(self) -> bool:
        """It still runs."""
        return same_process(self.pid, self.created_s) is not None


@dataclass(frozen=True, slots=True)
class RunningCluster:
    """The record of a cluster that stays up: `<state folder>/<id>.json`."""

    id: str
    owner: str
    version: str
    kind: str
    """`embedded` or `containers`."""
    timing: str
    """Name of the timing profile."""
    folder: str
    nodes: Sequence[RunningNode]
    """The name server first."""
    broker_configuration: dict[str, str] = field(default_factory=dict)
    dashboard: str | None = None
    """The address of the dashboard's page."""
    images: dict[str, str] = field(default_factory=dict)
    """The ids of the container images that it runs, by name."""
    proxy: Proxy | None = None

    @property
    def nameserver(self) -> str:
        """`host:port` of the name server, several with `;` between them."""
        return ";".join(node.address for node in self.nodes if node.role == "nameserver")

    @property
    def usual(self) -> bool:
        """One name server, one broker, no configuration of a scenario's: for scenarios that need nothing else."""
        return ";" not in self.nameserver and len(self.brokers) == 1 and not self.broker_configuration

    @property
    def brokers(self) -> Sequence[RunningNode]:
        """Its brokers."""
        return [node for node in self.nodes if node.role == "broker"]

    @property
    def tools_socket(self) -> Path:
        """Where its tools are asked, if it has any: `ManagedCluster.leave_tools`."""
        return tools_socket(self.owner)

    @property
    def spares(self) -> Path:
        """The folder of its spare workers: `harness.workers.spares`."""
        return spares_folder(self.owner)

    def fits(self, version: str, timing: str, kind: str, proxy: ProxyMode | None = None) -> bool:
        """Whether it is what somebody wants that wants nothing unusual, but perhaps a proxy."""
        has = None if self.proxy is None else self.proxy.mode
        same = (self.version, self.timing, self.kind) == (version, timing, kind)
        return self.usual and same and proxy in (None, has)

    @property
    def alive(self) -> bool:
        """At least one of its servers still runs."""
        return any(node.alive for node in self.nodes)


class AttachedCluster:
    """A cluster that somebody keeps up, as scenarios use it: it is neither started, stopped nor changed."""

    def __init__(self, record: RunningCluster) -> None:
        self.record = record
        self.kind = record.kind
        self.dashboard = record.dashboard
        self.images = record.images
        self.proxy = record.proxy
        self.version = record.version
        self.timing = PROFILES[record.timing]
        self.folder = Path(record.folder)
        self.start_attempts = 1
        self.nameserver = record.nameserver

    def start(self) -> None:
        """Make sure that it runs and that clients can work.

        Raises:
            EnvironmentNotReady: a server is gone or doesn't answer.
        """
        for node in self.record.nodes:
            if not node.alive:
                raise self._not_usable(f"{node.name} is gone")
        for broker in self.record.brokers:
            first = self.nameserver.partition(";")[0]
            if reason := readiness.why_not_ready(first, broker.address, broker.address):
                raise self._not_usable(f"{broker.name}: {reason}")
        if self.proxy is not None and (reason := readiness.why_no_grpc(self.proxy.grpc_endpoint)):
            raise self._not_usable(reason)

    def stop(self) -> None:
        """Nothing: it stays up."""

    @property
    def nodes(self) -> Sequence[Node]:
        """All nodes, the name server first."""
        return [
            Node(node.name, node.role, node.address, node.pid, Path(node.log), container=node.container)
            for node in self.record.nodes
        ]

    def deaths(self) -> Sequence[NodeDeath]:
        """Servers that are gone; how they ended only their own log can say, or whoever took the cluster down."""
        whose = f"of the cluster {self.record.id} that was up already; `rocketchaos down` may have ended it"
        return [
            NodeDeath(node.name, f"its process, {whose}, is gone; its log: {node.log}")
            for node in self.record.nodes
            if not node.alive
        ]

    def _not_usable(self, reason: str) -> EnvironmentNotReady:
        return EnvironmentNotReady(
            f"the running cluster {self.record.id} can't be used: {reason}",
            f"Take it down with `rocketchaos down {self.record.id}`, then bring up another.",
        )


def tools_socket(owner: str) -> Path:
    """Where the tools of this owner's cluster are asked. The path of a socket is short: 108 bytes on Linux."""
    return _file(owner[-_ID_LENGTH:]).with_suffix(".sock")


def spares_folder(owner: str) -> Path:
    """Where the spare workers of this owner's cluster are taken. Its path is short, as that of `tools_socket`."""
    return _file(owner[-_ID_LENGTH:]).with_suffix(".spares")


def keep(cluster: ServerCluster) -> RunningCluster:
    """Record a started cluster, so that it stays up when this harness ends.

    Its owner's token must not be the one under which everything else of this harness runs.

    Raises:
        EnvironmentNotReady: a server is gone already, or the record can't be written.
    """
    nodes = [_running_node(node) for node in cluster.nodes]
    record = RunningCluster(
        id=cluster.owner[-_ID_LENGTH:],
        owner=cluster.owner,
        version=cluster.version,
        kind=cluster.kind,
        timing=cluster.timing.name,
        folder=str(cluster.folder),
        nodes=nodes,
        broker_configuration=dict(cluster.broker_configuration),
        dashboard=cluster.dashboard,
        images=dict(cluster.images),
        proxy=cluster.proxy,
    )
    file = _file(record.id)
    part = file.with_suffix(".part")
    try:
        part.write_text(
            json.dumps({"schema_version": _RECORD_VERSION, **asdict(record)}, indent=1), encoding="utf-8"
        )
        part.replace(file)
    except OSError as error:
        raise EnvironmentNotReady(
            f"the record of the cluster can't be written: {error.strerror}: {file}", "Free some disk space."
        ) from error
    return record


def running() -> list[RunningCluster]:
    """The clusters that are up, in the order of their ids; records of others are removed with their folders.

    Raises:
        EnvironmentNotReady: the state folder can't be used.
    """
    alive, dead = records()
    for record in dead:
        # What can't be removed now, since its container engine is away, is tried again the next time.
        with contextlib.suppress(EnvironmentNotReady):
            take_down(record)
    return alive


def take_down(record: RunningCluster) -> None:
    """Kill this cluster's servers, and nothing else, and remove its folder and record. Idempotent.

    Raises:
        EnvironmentNotReady: a server can't be ended, or the container engine can't be asked; the record stays.
    """
    for node in record.nodes:
        process = same_process(node.pid, node.created_s)
        # What is in a container may be another user's; the engine ends it.
        if process is not None and node.container is None:
            reaper.end(process)
    # First: a command that ends now leaves no new spare worker then.
    shutil.rmtree(record.spares, ignore_errors=True)
    # Their token is a secret, so whatever carries it is of this cluster, even if somebody set the clock and
    # times of creation are no longer what they were.
    for owned in reaper.find_owned(record.owner.__eq__):
        owned.end()
    scratch = paths.scratch_root() / record.owner
    if left := remove_things_of([scratch]).left:
        raise EnvironmentNotReady(left[0], "Try again once nothing stands in the way.")
    shutil.rmtree(record.folder, ignore_errors=True)
    shutil.rmtree(scratch, ignore_errors=True)
    record.tools_socket.unlink(missing_ok=True)
    _file(record.id).unlink(missing_ok=True)


def records() -> tuple[list[RunningCluster], list[RunningCluster]]:
    """All records: of clusters of which something runs, and of others; raises as `running`."""
    found = [
        record for file in sorted(paths.state_folder().glob("*.json")) if (record := _read(file)) is not None
    ]
    return [each for each in found if each.alive], [each for each in found if not each.alive]


def _read(file: Path) -> RunningCluster | None:
    """A record; None for one of another version of the harness, or that is being removed right now."""
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if content.pop("schema_version") != _RECORD_VERSION:
            return None
        nodes = [RunningNode(**node) for node in content.pop("nodes")]
        proxy = content.pop("proxy", None)
        record = RunningCluster(nodes=nodes, proxy=proxy and Proxy(**proxy), **content)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return record if nodes and record.timing in PROFILES else None


def _file(identity: str) -> Path:
    return paths.state_folder() / f"{identity}.json"


def _running_node(node: Node) -> RunningNode:
    try:
        if node.pid is None:
            raise psutil.NoSuchProcess(0)
        created_s = psutil.Process(node.pid).create_time()
    except psutil.NoSuchProcess as error:
        raise EnvironmentNotReady(f"{node.name} is gone already", f"Look at its log: {node.log}") from error
    return RunningNode(node.name, node.role, node.address, str(node.log), node.pid, created_s, node.container)
