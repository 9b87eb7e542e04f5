"""A cluster that several runs share, and the admin client that asks it."""

import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from rocketchaos.harness.clients.access import access_of, keys_of
from rocketchaos.harness.clients.admin import Admin
from rocketchaos.harness.clients.server_requests import DirectRequests, RelayedRequests, names_in
from rocketchaos.harness.clients.tools import Tools
from rocketchaos.harness.cluster.base import Cluster, Guarded, Named, Networked
from rocketchaos.harness.cluster.canary import prove_delivery
from rocketchaos.harness.cluster.grpc_canary import prove_grpc
from rocketchaos.harness.cluster.running import AttachedCluster, RunningCluster, spares_folder, tools_socket
from rocketchaos.harness.core.closing import Closing
from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect
from rocketchaos.harness.reaper.reaper import new_owner
from rocketchaos.harness.rocketmq.access_key import HARNESS, SECRET
from rocketchaos.harness.rocketmq.signature import Secrets
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.workers.processes import Processes
from rocketchaos.harness.workers.program import WorkerHome
from rocketchaos.harness.workers.worker import Worker

Where = Literal["host", "containers"]
"""Where clients live."""


MakeCluster = Callable[[Path, str], Cluster]
"""Creates the cluster when it is first needed, not started yet: with this folder for its files, and this owner for
its processes."""


class ManagedCluster(Closing):
    """Holds a cluster while runs use it; `with ManagedCluster(...) as managed:`.

    Nothing is started before the first run needs it. The cluster then starts in the background, while the run's
    workers warm up.
    """

    def __init__(self, processes: Processes, version: str, make_cluster: MakeCluster) -> None:
        """
        Args:
            processes: what it shares with other clusters; they outlive it.
            version: of RocketMQ: of the servers, and of those clients that aren't asked for in another.
            make_cluster: see there.
        """
        self.processes = processes
        self.version = version
        self.timing = processes.timing
        self.since_s = time.monotonic()
        """When it was made, by `time.monotonic`."""
        self.interrupted = threading.Event()
        """Set if the user wants all runs to end."""
        self._make_cluster = make_cluster
        self._cluster_owner = new_owner()
        self._lock = threading.Lock()
        self._grpc_lock = threading.Lock()
        self._grpc_proven = False
        self._starting: threading.Thread | None = None
        self._cluster: Cluster | None = None
        self._made = threading.Event()
        self._admin: Admin | None = None
        self._failure: BaseException | None = None
        self._handed_over = False

    @property
    def cluster(self) -> Cluster | None:
        """The cluster, as soon as it is being started."""
        return self._cluster

    @property
    def failed(self) -> bool:
        """The cluster could not be started: no run can use it."""
        return self._failure is not None

    @property
    def shared(self) -> bool:
        """Whether the cluster was there before, and stays."""
        return isinstance(self._cluster, AttachedCluster)

    def begin(self) -> None:
        """Start the cluster in the background."""
        with self._lock:
            if self._starting is None:
                self._starting = threading.Thread(target=self._start, name="cluster-start", daemon=True)
                self._starting.start()

    def ready(self) -> tuple[Cluster, Admin]:
        """The running cluster and the admin client.

        Raises:
            EnvironmentNotReady: one of them can't start.
        """
        self.begin()
        assert self._starting is not None
        while self._starting.is_alive():
            self._starting.join(0.2)  # in slices, so that Ctrl-C gets through
        if self._failure is not None:
            raise self._failure
        assert self._cluster is not None
        assert self._admin is not None
        return self._cluster, self._admin

    def workers_of(self, scenario: Scenario) -> Where:
        """The place of the scenario's clients: the one that it wants, unless they can only live in containers."""
        return "containers" if _only_inside(self._cluster) else scenario.workers

    def worker_home(self, scenario: Scenario) -> WorkerHome | None:
        """The place of the scenario's clients, once it is ready; None: on this host.

        Raises:
            EnvironmentNotReady: the cluster can't start, or there is no image for workers.
            HarnessDefect: it has no network for them (`Scenario.required_capabilities` should have shown it).
        """
        self.begin()
        self._made.wait()
        if self.workers_of(scenario) == "host":
            return None
        cluster, _ = self.ready()
        if not isinstance(cluster, Networked):
            raise HarnessDefect(f"a cluster of kind {cluster.kind} has no network for workers")
        return cluster.worker_home()

    def prove_grpc(self, scenario: Scenario) -> None:
        """Make sure, once, that the proxy serves gRPC clients at the place of the scenario's.

        Raises:
            EnvironmentNotReady: it doesn't.
            HarnessDefect: there is no proxy (`Scenario.cluster_needs` should have asked for one), or no client
                speaks gRPC.
        """
        cluster, admin = self.ready()
        with self._grpc_lock:
            if self._grpc_proven:
                return
            if cluster.proxy is None:
                raise HarnessDefect("a client needs a proxy, and the cluster has none")
            processes, choice = self.processes, scenario.grpc_choice
            if choice is None:
                raise HarnessDefect("the scenario has no gRPC client")
            logs = processes.scratch(processes.reaper.owner) / f"canary-{self._cluster_owner[-8:]}"
            home = self.worker_home(scenario)
            version = choice.version_on(self.version)
            try:
                worker = processes.spawn(
                    choice.kind.worker, version, "canary", logs, _ignore, _ignore, home=home
                )
            except EnvironmentNotReady as missing:
                if choice in scenario.choices:
                    raise
                # The user's program brings its own client: it runs where the canary's can't be installed.
                processes.progress(f"the proxy isn't tried with a gRPC client first: {missing.message}")
                return
            try:
                masters = [node for node in cluster.nodes if node.is_master]
                access = keys_of(HARNESS) if _is_guarded(cluster) else None
                prove_grpc(worker, admin, cluster.proxy.grpc_endpoint, masters, access)
            finally:
                worker.release()
            self._grpc_proven = True

    def _start(self) -> None:
        try:
            owner, processes = self._cluster_owner, self.processes
            processes.reaper.watch(owner)
            cluster = self._make_cluster(processes.scratch(owner) / "cluster", owner)
            self._cluster = cluster
            if isinstance(cluster, AttachedCluster):
                use_spares(cluster.record, processes)
            self._made.set()
            cluster.start()
            admin = self._admin = self._make_admin(cluster)
            if not self.shared:
                prove_delivery(admin, [node for node in cluster.nodes if node.is_master])
        except BaseException as failure:  # handed over to the thread that waits
            self._failure = failure
        finally:
            self._made.set()

    def _make_admin(self, cluster: Cluster) -> Admin:
        processes = self.processes
        logs = processes.scratch(processes.reaper.owner) / f"admin-{self._cluster_owner[-8:]}"
        home = cluster.worker_home() if isinstance(cluster, Networked) and cluster.only_inside else None
        # Containers resolve the names of containers by themselves.
        hosts = cluster.hosts_file if home is None and isinstance(cluster, Named) else None
        guarded = _is_guarded(cluster)

        def spawn() -> Worker:
            return processes.spawn(
                "admin", self.version, "admin", logs, _ignore, _ignore, home=home, hosts_file=hosts
            )

        access = access_of(HARNESS, self.version, processes.progress) if guarded else None
        resident = cluster.record.tools_socket if isinstance(cluster, AttachedCluster) else None
        tools = Tools(spawn, cluster.nameserver, access, resident)
        if home is not None:
            return Admin(cluster.nameserver, RelayedRequests(tools), tools)
        direct = DirectRequests(Secrets(HARNESS, SECRET) if guarded else None, names_in(hosts))
        return Admin(cluster.nameserver, direct, tools)

    def leave_tools(self) -> None:
        """Start RocketMQ's tools for those who use the cluster later, and have a folder for spare workers.

        Raises:
            EnvironmentNotReady: they can't be started.
        """
        cluster, _ = self.ready()
        if not _only_inside(cluster):
            owner = self._cluster_owner
            self.processes.leave_tools(
                self.version, cluster.nameserver, owner, tools_socket(owner), cluster.folder
            )
            spares_folder(owner).mkdir(mode=0o700)

    def hand_over(self) -> None:
        """Let the cluster outlive this object; call it once the cluster is recorded as running."""
        self.processes.reaper.unwatch(self._cluster_owner)
        self._cluster, self._handed_over = None, True

    def close(self) -> None:
        """End everything that the cluster started, and nothing else. Idempotent."""
        if self._starting is not None:
            self._starting.join()
        if self._admin is not None:
            self._admin.release()
        if self._cluster is not None:
            self._cluster.stop()
        if self._starting is not None and not self._handed_over:  # also where no cluster could be made
            self.processes.reaper.remove_scratch(self._cluster_owner)
            shutil.rmtree(spares_folder(self._cluster_owner), ignore_errors=True)
            with suppress(EnvironmentNotReady):  # a reaper that is gone watches nothing
                self.processes.reaper.unwatch(self._cluster_owner)


def use_spares(record: RunningCluster, processes: Processes) -> None:
    """Have shared workers from this cluster's spares, and replace those in the end."""
    processes.use_spares(record.version, record.owner, record.spares, Path(record.folder) / "spares")


def _is_guarded(cluster: Cluster) -> bool:
    return isinstance(cluster, Guarded) and cluster.access_key_file is not None


def _only_inside(cluster: Cluster | None) -> bool:
    return isinstance(cluster, Networked) and cluster.only_inside


def _ignore(*_unused: object) -> None:
    """The tools' worker has no events, and its death shows in the next call."""
