"""An archive run: the steps of every run, once for each version and Java, so that the JVMs leave class-data
archives.

A name server, a broker, an admin client and a consumer do all that a run does. Then they end in good order, which
runs don't wait for: only then a JVM writes its archive.
"""

import contextlib
import shutil
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rocketchaos.harness.clients.admin import Admin
from rocketchaos.harness.clients.server_requests import DirectRequests
from rocketchaos.harness.clients.tools import Tools
from rocketchaos.harness.cluster.canary import prove_delivery
from rocketchaos.harness.cluster.embedded import EmbeddedCluster
from rocketchaos.harness.cluster.topics import create_routed_topic
from rocketchaos.harness.core.errors import EnvironmentNotReady, RocketchaosError
from rocketchaos.harness.core.names import new_token
from rocketchaos.harness.jars.artifacts import Role, classpath
from rocketchaos.harness.jars.class_archive import ClassArchive, alone, machine_is_busy
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.language.topic import evenly
from rocketchaos.harness.rocketmq import versions
from rocketchaos.harness.workers.on_host import with_jpype
from rocketchaos.harness.workers.processes import Processes
from rocketchaos.harness.workers.worker import Worker
from rocketchaos.harness.workers.worker_events import WorkerEvent

_LIMIT_S = 30.0
_END_LIMIT_S = 60.0
_SERVERS: dict[Role, Sequence[str]] = {
    "server": ("nameserver", "broker"),
    "all-servers": ("nameserver", "proxy"),
}
_WORKERS: dict[str, Role] = {"admin": "tools", "java": "client"}


def make_archives(processes: Processes, version: str, *, proxy: bool = False) -> None:
    """Make the class-data archives of a version that are missing.

    It does nothing if this Java can't make any, if another process makes them, or if the machine is busy. Then a
    later command makes them.

    Args:
        processes: whose Java, reaper and timing are taken.
        version: of RocketMQ; its jars are there.
        proxy: whether runs need a proxy; those of its servers are made then.

    Raises:
        EnvironmentNotReady: the cache can't be used. A failed archive run doesn't concern other runs.
    """
    proxy = proxy and versions.has_proxy(version)
    if machine_is_busy() or not any(
        archive.can_be_made() for archive in _archives(processes, version, proxy)
    ):
        return
    with alone("lock") as mine:
        missing = [
            archive for archive in _archives(processes, version, proxy) if mine and archive.can_be_made()
        ]
        if not missing:
            return
        processes.progress(f"preparing fast starts of RocketMQ {version}, once")
        folder = processes.scratch(processes.reaper.owner) / "archive-run"
        try:
            folder.mkdir(exist_ok=True)
            _ArchiveRun(processes, version, missing, folder, proxy=proxy).make()
        except (RocketchaosError, OSError) as failure:
            _give_up(missing, failure)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _archives(processes: Processes, version: str, proxy: bool) -> list[ClassArchive]:
    servers: Role = "all-servers" if proxy else "server"
    jars = classpath(version, servers, processes.progress)
    return [
        *(ClassArchive(program, processes.java, jars) for program in _SERVERS[servers]),
        *(
            ClassArchive(role, processes.java, with_jpype(classpath(version, role, processes.progress)))
            for role in _WORKERS.values()
        ),
    ]


def _give_up(missing: Sequence[ClassArchive], failure: Exception) -> None:
    for archive in missing:
        if archive.can_be_made():
            try:
                archive.note_failure(str(failure))
            except OSError as error:
                raise EnvironmentNotReady(f"the cache can't be written: {error}") from error


class _Cluster(EmbeddedCluster):
    """Its servers write the archives that are missing."""

    archive_options: Callable[[ClassArchive], Sequence[str]] = ClassArchive.options

    def _archive_options(self, archive: ClassArchive) -> Sequence[str]:
        return self.archive_options(archive)


class _ArchiveRun:
    """One archive run, for some archives."""

    def __init__(
        self,
        processes: Processes,
        version: str,
        missing: Sequence[ClassArchive],
        folder: Path,
        *,
        proxy: bool,
    ) -> None:
        self._processes = processes
        self._version = version
        self._missing = missing
        self._folder = folder
        self._consumed = threading.Event()
        self._cluster = _Cluster(
            version,
            processes.timing,
            folder / "cluster",
            owner=processes.reaper.owner,
            needs=ClusterNeeds(proxy="local" if proxy else None),
        )
        self._cluster.archive_options = self._options

    def make(self) -> None:
        """Raises RocketchaosError, OSError: something differs from a run."""
        workers: list[Worker] = []
        try:
            workers += [self._spawn(kind, role) for kind, role in _WORKERS.items()]
            self._cluster.start()
            with contextlib.closing(DirectRequests()) as requests:
                self._act(requests, *workers)
            self._end(workers)
        finally:
            for worker in workers:
                worker.release()
            self._cluster.stop()
        for archive in self._missing:
            archive.keep(self._folder)

    def _options(self, archive: ClassArchive) -> Sequence[str]:
        return archive.making(self._folder) if archive in self._missing else archive.options()

    def _spawn(self, kind: str, role: Role) -> Worker:
        jars = with_jpype(classpath(self._version, role))
        options = self._options(ClassArchive(role, self._processes.java, jars))
        logs = self._folder / "workers"
        return self._processes.spawn(
            kind, self._version, kind, logs, self._hear, _ignore, jvm_options=options
        )

    def _hear(self, event: WorkerEvent) -> None:
        if event.kind == "consumed":
            self._consumed.set()

    def _act(self, requests: DirectRequests, tools: Worker, java: Worker) -> None:
        """All that most runs do."""
        cluster, token = self._cluster, new_token()
        admin = Admin(cluster.nameserver, requests, Tools(lambda: tools, cluster.nameserver))
        broker = next(node for node in cluster.nodes if node.is_master)
        who = {"nameserver": cluster.nameserver, "client_ip": "archive-run", "instance": token}
        prove_delivery(admin, [broker])
        create_routed_topic(admin, token, evenly(2), {broker.name: broker.address})
        java.wait_ready(_LIMIT_S)
        java.request("start-producer", _LIMIT_S, name="p", group=f"{token}-p", **who)
        settings = dict(self._processes.timing.client_settings)
        started = java.request(
            "start-consumer",
            _LIMIT_S,
            name="c",
            group=token,
            subscribe={token: "tag"},
            settings=settings,
            **who,
        )
        sent = java.request(
            *("send", _LIMIT_S),
            name="p",
            topic=token,
            tag="tag",
            key="k",
            body="b",
            queue=None,
            timeout_ms=10_000,
        )
        if not self._consumed.wait(_LIMIT_S):
            raise EnvironmentNotReady(f"the archive run's consumer got nothing within {_LIMIT_S:g} s")
        admin.running_info(token, str(started["client_id"]), broker.address, 10_000)
        admin.consumer_status(token, broker.address)
        admin.tracks(token, str(sent["offset_msg_id"]))
        java.request("stop-consumer", _LIMIT_S, name="c")
        java.request("stop-producer", _LIMIT_S, name="p")

    def _end(self, workers: Sequence[Worker]) -> None:
        """End everything in good order; the clients first, because servers wait for them."""
        with ThreadPoolExecutor() as pool:
            ends = [pool.submit(worker.stop, _END_LIMIT_S) for worker in workers]
            ends += [pool.submit(self._cluster.stop_node, node.name) for node in self._cluster.nodes]
            for end in ends:
                end.result()


def _ignore(*_unused: object) -> None:
    """A worker that dies shows in the next request."""
