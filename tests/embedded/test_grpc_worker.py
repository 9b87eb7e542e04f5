"""The `grpc` worker against a real proxy, in the process of its broker."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from harness.clients.admin import Admin
from harness.cluster.embedded import EmbeddedCluster
from harness.cluster.groups import create_group
from harness.timing import COMPRESSED
from harness.workers.handle import Worker
from tests.embedded.workbench import LIMIT_S, Bench, failure, until

pytestmark = pytest.mark.embedded


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("proxied")
    cluster = EmbeddedCluster("5.5.0", COMPRESSED, folder / "cluster", owner="tests", proxy="local")
    cluster.start()
    try:
        bench = Bench(cluster, tmp_path_factory.mktemp("workers"))
        yield bench
        for worker in bench.workers:
            worker.kill()
    finally:
        cluster.stop()


@pytest.fixture(scope="module")
def grpc(bench: Bench) -> Worker:
    worker = bench.spawn("grpc", "grpc")
    worker.wait_ready(LIMIT_S)
    return worker


@pytest.fixture
def group(bench: Bench) -> str:
    group = f"group-{next(bench.numbers)}"
    create_group(Admin(bench.admin), group, [bench.broker.address])
    return group


def consume(
    bench: Bench, worker: Worker, topic: str, expression: Any, group: str, **more: Any
) -> tuple[str, str]:
    """Start a consumer; its name and client id."""
    name = f"c-{next(bench.numbers)}"
    assert bench.cluster.proxy is not None
    answer = worker.request(
        "start-consumer",
        LIMIT_S,
        name=name,
        group=group,
        subscribe={topic: expression},
        settings={},
        endpoint=bench.cluster.proxy.grpc_endpoint,
        **bench.identity(name),
        **more,
    )
    return name, answer["client_id"]


@pytest.mark.parametrize("api", ["push", "simple"])
def test_a_consumer_reports_each_message_with_the_place_where_it_lies(
    bench: Bench, grpc: Worker, group: str, api: str
) -> None:
    topic = bench.topic()
    name, client_id = consume(bench, grpc, topic, "tagA", group, api=api)
    sent = {key: bench.send(topic, "tagA", queue, key=key) for key, queue in (("k2", 2), ("k3", 3))}
    consumed = bench.seen.wait(name, "consumed", 2)
    assert {event["status"] for event in consumed} == {"CONSUME_SUCCESS"}
    for event in bench.seen.of(name, "received"):
        answer = sent[event["key"]]
        assert event == {
            "consumer": name,
            "topic": topic,
            "tag": "tagA",
            "key": event["key"],
            "keys": [],
            "broker": bench.broker.name,
            "queue_id": answer["queue_id"],
            "offset": answer["queue_offset"],
            "msg_id": answer["msg_id"],
            "offset_msg_id": None,
            "reconsume_times": 0,
        }
    assert [one["client_id"] for one in bench.connection(group)["connections"]] == [client_id]
    until(lambda: bench.offsets(group, topic), lambda seen: all(own in (end, None) for end, own in seen))
    grpc.request("stop-consumer", LIMIT_S, name=name)
    assert until(lambda: failure(lambda: bench.connection(group)), lambda seen: seen is not None).code == 206


def test_the_broker_drops_a_killed_consumer(bench: Bench, group: str) -> None:
    topic = bench.topic()
    worker = bench.spawn("grpc", "victim")
    worker.wait_ready(LIMIT_S)
    name, _ = consume(bench, worker, topic, "*", group)
    bench.send(topic, "tagA", 0)
    bench.seen.wait(name, "consumed", 1)
    worker.kill()
    assert worker.returncode == -signal.SIGKILL
    assert until(lambda: failure(lambda: bench.connection(group)), lambda seen: seen is not None).code == 206
