"""What several runs share: the guardian, Java, a cluster, the admin worker, and warm client processes."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Protocol

from harness import paths
from harness.clients.admin import Admin
from harness.cluster.artifacts import ARTIFACTS, classpath
from harness.cluster.base import Cluster
from harness.cluster.canary import prove_delivery
from harness.cluster.java_home import find_java
from harness.cluster.running import AttachedCluster
from harness.guardian import Guardian, new_owner
from harness.load import usable_cores
from harness.names import new_token
from harness.timing import TimingProfile
from harness.workers.handle import OnDeath, OnEvent, Worker
from harness.workers.kinds import KINDS
from harness.workers.shared import SharedWorkers

Progress = Callable[[str], None]
SHARED_AT_LEAST = 2
"""Shared client processes, so that two members of a group live in different ones; one for each core, up to:"""
SHARED_AT_MOST = 8


class MakeCluster(Protocol):
    """Makes the session's cluster, when it is first needed."""

    def __call__(self, folder: Path, owner: str) -> Cluster:
        """A cluster that isn't started yet, with this folder for its files and this owner for its processes."""


class Session:
    """Holds a cluster while runs use it; `with Session(...) as session:`.

    Jars are fetched at once; nothing else is started before the first run needs it. The cluster then starts in
    the background, while the run's workers warm up.
    """

    def __init__(
        self, version: str, timing: TimingProfile, make_cluster: MakeCluster, progress: Progress
    ) -> None:
        """
        Args:
            version: of RocketMQ, servers and clients.
            timing: the profile of the cluster and of all its clients.
            make_cluster: see there.
            progress: told in a few words what takes time.

        Raises:
            UsageProblem: there is no such version.
            EnvironmentNotReady: there is no Java, the jars can't be had, or the guardian can't be started.
        """
        self.version = version
        self.timing = timing
        self.progress = progress
        self.java = find_java()
        for role in ARTIFACTS:
            classpath(version, role, progress)
        self.guardian = Guardian.start()
        self.interrupted = threading.Event()
        """Set where the user wants all runs to end."""
        self._make_cluster = make_cluster
        self._cluster_owner = new_owner()
        self._lock = threading.Lock()
        self._starting: threading.Thread | None = None
        self._cluster: Cluster | None = None
        self._admin: Admin | None = None
        self._failure: BaseException | None = None
        self.workers = SharedWorkers(
            self._spawn_shared,
            lambda name: self._shared_logs / name,
            max(SHARED_AT_LEAST, min(SHARED_AT_MOST, usable_cores())),
        )
        """Client processes for runs in which no step needs a process of its own."""

    @property
    def cluster(self) -> Cluster | None:
        """The cluster, as soon as it is being started."""
        return self._cluster

    @property
    def shared(self) -> bool:
        """Whether the cluster was there before, and stays."""
        return isinstance(self._cluster, AttachedCluster)

    def begin(self) -> None:
        """Start the cluster and the admin worker in the background."""
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

    def _start(self) -> None:
        try:
            self.guardian.watch(self._cluster_owner)
            cluster = self._make_cluster(self._scratch(self._cluster_owner) / "cluster", self._cluster_owner)
            self._cluster = cluster
            worker = self.spawn("admin", "admin", self._scratch(self.guardian.owner), _ignore, _ignore)
            self._admin = Admin(worker)
            cluster.start()
            self._admin.connect(cluster.nameserver, new_token())
            if not self.shared:
                prove_delivery(self._admin, [node for node in cluster.nodes if node.is_master])
        except BaseException as failure:  # handed over to the thread that waits
            self._failure = failure

    def _scratch(self, owner: str) -> Path:
        """The owner's folder; the guardian removes it, should the harness die."""
        # Told before it is made, so that no moment is left in which nobody would remove it.
        self.guardian.remove_at_death(paths.scratch_root() / owner)
        return paths.scratch_folder(owner)

    def spawn(self, kind: str, name: str, log_folder: Path, on_event: OnEvent, on_death: OnDeath) -> Worker:
        """Start a worker process of a kind, without waiting for it.

        Raises:
            EnvironmentNotReady: the process can't be started.
        """
        worker_kind = KINDS[kind]
        role = worker_kind.classpath_role
        properties = self.timing.client_system_properties
        return Worker.spawn(
            worker_kind,
            name,
            java=self.java,
            classpath=() if role is None else classpath(self.version, role, self.progress),
            jvm_options=[f"-D{key}={value}" for key, value in properties.items()],
            log_folder=log_folder,
            owner=self.guardian.owner,
            on_event=on_event,
            on_death=on_death,
        )

    @property
    def _shared_logs(self) -> Path:
        return paths.scratch_folder(self.guardian.owner) / "shared"

    def _spawn_shared(self, name: str, on_event: OnEvent, on_death: OnDeath) -> Worker:
        self._scratch(self.guardian.owner)
        return self.spawn("shared-java", name, self._shared_logs, on_event, on_death)

    def hand_over(self) -> None:
        """Let the cluster outlive this session; call it once the cluster is recorded as running."""
        self.guardian.unwatch(self._cluster_owner)
        self._cluster = None

    def close(self) -> None:
        """End everything that the session started, and nothing else. Idempotent."""
        if self._starting is not None:
            self._starting.join()
        self.workers.close()
        if self._admin is not None:
            self._admin.release()
        shutil.rmtree(paths.scratch_root() / self.guardian.owner, ignore_errors=True)
        if self._cluster is not None:
            self._cluster.stop()
            shutil.rmtree(paths.scratch_root() / self._cluster_owner, ignore_errors=True)
        self.guardian.release()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _ignore(*_unused: object) -> None:
    """The admin worker has no events, and its death shows in the next call."""
