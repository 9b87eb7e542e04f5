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
from rocketchaos.harness.jars.artifacts import classpath
from rocketchaos.harness.language.topic import evenly
from rocketchaos.harness.reaper.reaper import new_owner
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED
from rocketchaos.harness.workers.in_containers import InContainers
from rocketchaos.harness.workers.worker import Worker
from rocketchaos.harness.workers.worker_events import WorkerEvent
from rocketchaos.harness.workers.worker_kinds import KINDS
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


def test_a_batch_survives_the_death_of_its_consumer(
    engine: Engine, worker_image: str, cluster: ContainersCluster, tmp_path: Path
) -> None:
    assert cluster.subnet is not None
    home = InContainers(engine, worker_image, cluster.subnet, owner=new_owner(), run="clients")
    events: list[WorkerEvent] = []
    deaths: list[Any] = []

    def spawn(kind: str, name: str) -> Worker:
        role = KINDS[kind].classpath_role
        assert role is not None
        properties = COMPRESSED.client_system_properties
        worker = Worker.spawn(
            KINDS[kind],
            name,
            home=home,
            log_folder=tmp_path,
            on_event=events.append,
            on_death=lambda *death: deaths.append(death),
            classpath=classpath("4.9.4", role),
            jvm_options=[f"-D{key}={value}" for key, value in properties.items()],
        )
        stack.callback(worker.release)
        return worker

    def consume(worker: Worker, **more: Any) -> None:
        identity = {"nameserver": cluster.nameserver, "client_ip": worker.name, "instance": "i"}
        worker.request(
            "start-consumer",
            LIMIT_S,
            name=worker.name,
            group="g",
            subscribe={"orders": "*"},
            settings=dict(COMPRESSED.client_settings),
            **identity,
            **more,
        )

    def keys(kind: str, *consumers: str) -> set[str]:
        return {
            event.data["key"]
            for event in list(events)
            if event.kind == kind and event.data["consumer"] in consumers
        }

    with ExitStack() as stack:
        producer, first, second = (spawn("java", name) for name in ("p", "a", "b"))
        for worker in (producer, first, second):
            worker.wait_ready(LIMIT_S)
        # As where an engine is in a VM, and only containers reach the servers.
        tools = Tools(lambda: spawn("admin", "admin"), cluster.nameserver)
        admin = Admin(cluster.nameserver, RelayedRequests(tools), tools)
        broker = next(node for node in cluster.nodes if node.is_master)
        create_routed_topic(admin, "orders", evenly(4), {broker.name: broker.address})
        producer.request(
            "start-producer",
            LIMIT_S,
            name="p",
            group="p",
            nameserver=cluster.nameserver,
            client_ip="p",
            instance="i",
        )
        # Longer than the other sends take, on a busy machine too: it is killed before it has handled all.
        consume(first, behaviour={"slow_ms": 5000})
        [online] = admin.connection("g", broker.address)["connections"]
        assert first.container is not None
        assert online["address"].startswith(f"{first.container.address}:"), "it lives at its own address"
        for number in range(COUNT):
            producer.request(
                "send",
                LIMIT_S,
                name="p",
                topic="orders",
                tag=None,
                key=f"k{number}",
                body="x",
                queue=None,
                timeout_ms=3000,
            )
        until(lambda: len(keys("received", "a")) >= COUNT // 10)
        first.kill()
        assert keys("consumed", "a") <= keys("received", "a"), "the channel keeps the order"
        assert len(keys("consumed", "a")) < COUNT, "it was in mid-batch"
        consume(second)
        until(lambda: len(keys("consumed", "a", "b")) == COUNT)
        assert (first.returncode, deaths) == (-9, [])
