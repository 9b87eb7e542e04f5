"""Makes the cluster that a scenario needs, of the kind that the user wants."""

from collections.abc import Sequence
from pathlib import Path

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.cluster.server_cluster import ServerCluster
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.rocketmq.timing_profiles import TimingProfile
from rocketchaos.harness.workers.processes import Processes


def require_lasting(kind: ClusterKind) -> None:
    """Make sure that a cluster of this kind can stay up for other commands.

    Raises:
        EnvironmentNotReady: no other command could reach it, or no container engine lets this user in.
    """
    if kind is not ClusterKind.CONTAINERS:
        return
    from rocketchaos.harness.containers.container_engine import connect

    if connect().in_vm:
        raise EnvironmentNotReady(
            "no cluster in containers can stay up if their engine runs in a VM: this host can't reach its "
            "brokers' addresses",
            "Leave out `--on containers`; or let each command start its own, without `up` and `--keep`.",
        )


class Making:
    """`making(folder, owner)`: a cluster that isn't started yet, with this folder for its files."""

    def __init__(
        self,
        kind: ClusterKind,
        version: str,
        needs: ClusterNeeds,
        processes: Processes,
        *,
        delayed: Sequence[str] = (),
        nameserver_port: int | None = None,
        shared: bool = False,
    ) -> None:
        """
        Args:
            kind: where its servers run.
            version: of RocketMQ.
            needs: what is wanted of it.
            processes: whose timing and reaper are its own.
            delayed: brokers whose answers can be delayed.
            nameserver_port: of an embedded one; None: any that is free.
            shared: runs share it, so no step kills one of its servers.
        """
        self._kind = kind
        self._version = version
        self._needs = needs
        self._processes = processes
        self._delayed = delayed
        self._nameserver_port = nameserver_port
        self._shared = shared
        if kind is ClusterKind.CONTAINERS:
            # Before the cluster's thread starts: two threads that import parts of `docker` at once can wait for
            # each other, because Python locks each module by itself.
            import rocketchaos.harness.cluster.container_cluster  # noqa: F401

    def __call__(self, folder: Path, owner: str) -> ServerCluster:
        """A new cluster.

        Raises:
            EnvironmentNotReady: no container engine lets this user in.
        """
        # What speaks to a container engine takes a while to load.
        if self._kind is ClusterKind.CONTAINERS:
            return self._containers(folder, owner)
        from rocketchaos.harness.cluster.embedded import EmbeddedCluster

        return EmbeddedCluster(
            self._version,
            self._timing,
            folder,
            owner=owner,
            needs=self._needs,
            nameserver_port=self._nameserver_port,
            progress=self._processes.progress,
        )

    @property
    def _timing(self) -> TimingProfile:
        timing = self._processes.timing
        return timing.for_shared(self._version) if self._shared else timing

    def _containers(self, folder: Path, owner: str) -> ServerCluster:
        from rocketchaos.harness.cluster.container_cluster import ContainersCluster
        from rocketchaos.harness.containers.container_engine import connect
        from rocketchaos.harness.containers.images import Images

        processes = self._processes
        engine = connect()
        processes.reaper.watch_engine(engine.base_url)
        return ContainersCluster(
            self._version,
            self._timing,
            folder,
            owner=owner,
            engine=engine,
            images=Images(engine, processes.progress),
            needs=self._needs,
            delayed=self._delayed,
            progress=processes.progress,
        )
