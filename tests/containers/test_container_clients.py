"""Clients in containers against name server and broker in containers: nothing is on this host but the harness."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.clients.admin import Admin
from rocketchaos.harness.clients.server_requests import RelayedRequests
from rocketchaos.harness.clients.tools import Tools
from rocketchaos.harness.cluster.container_cluster import ContainersCluster
from rocketchaos.harness.cluster.topics import create_routed_topic
from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.images import Images
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.jars.artifacts import classpath
from rocketchaos.harness.language.topic import evenly
from rocketchaos.harness.reaper.reaper import new_owner
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED
from rocketchaos.harness.workers.in_containers import InContainers
from rocketchaos.harness.workers.worker import Worker
from rocketchaos.harness.workers.worker_kinds import KINDS
from tests.containers.recorder import Recorder
from tests.waiting import until

pytestmark = pytest.mark.containers

LIMIT_S = 40.0
COUNT = 40


@pytest.fixture(scope="module")
def cluster(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainersCluster]:
    cluster = ContainersCluster(
        "4.9.4",
        COMPRESSED,
        tmp_path_factory.mktemp("cluster"),
        owner=new_owner(),
        engine=engine,
        images=Images(engine, print),
    )
    with ExitStack() as stack:
        stack.callback(cluster.stop)
        cluster.start()
        yield cluster


class Clients:
    """Workers in containers, and the consumers and producers in them."""

    def __init__(self, home: InContainers, folder: Path, nameserver: str, stack: ExitStack) -> None:
        self._home, self._folder, self._stack = home, folder, stack
        self._nameserver = nameserver
        self.recorder = Recorder()

    def spawn(self, kind: str, name: str) -> Worker:
        role = KINDS[kind].classpath_role
        assert role is not None
        properties = COMPRESSED.client_system_properties
        worker = Worker.spawn(
            KINDS[kind],
            name,
            home=self._home,
            log_folder=self._folder,
            on_event=self.recorder.on_event,
            on_death=self.recorder.on_death,
            classpath=classpath("4.9.4", role),
            jvm_options=[f"-D{key}={value}" for key, value in properties.items()],
        )
        self._stack.callback(worker.release)
        return worker

    def consume(self, worker: Worker, **more: Any) -> None:
        settings = dict(COMPRESSED.client_settings)
        self._start("start-consumer", worker, group="g", subscribe={"orders": "*"}, settings=settings, **more)

    def produce(self, worker: Worker) -> None:
        self._start("start-producer", worker, group=worker.name)

    def _start(self, command: str, worker: Worker, **more: Any) -> None:
        identity = {"nameserver": self._nameserver, "client_ip": worker.name, "instance": "i"}
        worker.request(command, LIMIT_S, name=worker.name, **identity, **more)

    def keys(self, kind: str, *consumers: str) -> set[str]:
        return {
            event.data["key"]
            for event in list(self.recorder.events)
            if event.kind == kind and event.data["consumer"] in consumers
        }


def _send(producer: Worker, key: str) -> None:
    message = {"topic": "orders", "tag": None, "key": key, "body": "x", "queue": None}
    producer.request("send", LIMIT_S, name=producer.name, timeout_ms=3000, **message)


def test_a_batch_survives_the_death_of_its_consumer(
    engine: Engine, worker_image: str, cluster: ContainersCluster, tmp_path: Path
) -> None:
    assert cluster.subnet is not None
    home = InContainers(engine, worker_image, cluster.subnet, owner=new_owner(), run="clients")
    with ExitStack() as stack:
        clients = Clients(home, tmp_path, cluster.nameserver, stack)
        producer, first, second = (clients.spawn("java", name) for name in ("p", "a", "b"))
        for worker in (producer, first, second):
            worker.wait_ready(LIMIT_S)
        # As where an engine is in a VM, and only containers reach the servers.
        tools = Tools(lambda: clients.spawn("admin", "admin"), cluster.nameserver)
        admin = Admin(cluster.nameserver, RelayedRequests(tools), tools)
        broker = next(node for node in cluster.nodes if node.is_master)
        create_routed_topic(admin, "orders", evenly(4), {broker.name: broker.address})
        clients.produce(producer)
        # Longer than the other sends take, on a busy machine too: it is killed before it has handled all.
        clients.consume(first, behaviour={"slow_ms": 5000})

        def connections() -> list[dict[str, str]]:
            # A client that had no lock or no route at its start sends its first heartbeat up to 30 s later.
            try:
                known: list[dict[str, str]] = admin.connection("g", broker.address)["connections"]
            except RequestFailed:
                return []
            return known

        [online] = until(connections)
        assert first.container is not None
        assert online["address"].startswith(f"{first.container.address}:"), "it lives at its own address"
        for number in range(COUNT):
            _send(producer, f"k{number}")
        until(lambda: len(clients.keys("received", "a")) >= COUNT // 10)
        first.kill()
        assert clients.keys("consumed", "a") <= clients.keys("received", "a"), "the channel keeps the order"
        assert len(clients.keys("consumed", "a")) < COUNT, "it was in mid-batch"
        clients.consume(second)
        until(lambda: len(clients.keys("consumed", "a", "b")) == COUNT)
        assert (first.returncode, clients.recorder.deaths) == (-9, [])
