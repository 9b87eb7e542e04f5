"""The `grpc` and the `grpc-java` worker against a real proxy, in the process of its broker."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from rocketchaos.harness.cluster.embedded import EmbeddedCluster
from rocketchaos.harness.cluster.groups import create_group
from rocketchaos.harness.cluster.message_place import locate
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED
from rocketchaos.harness.workers.worker import Worker
from tests.embedded.workbench import LIMIT_S, Bench, failure, until

pytestmark = [pytest.mark.embedded, pytest.mark.extended]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("proxied")
    cluster = EmbeddedCluster(
        "5.5.0", COMPRESSED, folder / "cluster", owner="tests", needs=ClusterNeeds(proxy="local")
    )
    cluster.start()
    try:
        bench = Bench(cluster, tmp_path_factory.mktemp("workers"))
        yield bench
        bench.release()
    finally:
        cluster.stop()


@pytest.fixture(scope="module")
def grpc(bench: Bench, request: pytest.FixtureRequest) -> Worker:
    kind = getattr(request, "param", "grpc")
    worker = bench.spawn(kind, kind)
    worker.wait_ready(LIMIT_S)
    return worker


@pytest.fixture
def group(bench: Bench) -> str:
    group = f"group-{next(bench.numbers)}"
    create_group(bench.admin, group, [bench.broker.address])
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


@pytest.mark.parametrize("grpc", ["grpc", "grpc-java"], indirect=True)
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
            **({"batch": 1} if api == "push" else {}),
        }
    assert [item["client_id"] for item in bench.online(group)["connections"]] == [client_id]
    until(lambda: bench.offsets(group, topic), lambda seen: all(own in (end, None) for end, own in seen))
    grpc.request("stop-consumer", LIMIT_S, name=name)
    assert until(lambda: failure(lambda: bench.connection(group)), lambda seen: seen is not None).code == 206


def _leaves_while_its_listener_blocks(bench: Bench, group: str, api: str) -> str:
    """Its name, once it has ended by SIGTERM."""
    topic = bench.topic()
    worker = bench.spawn("grpc", f"leaver-{next(bench.numbers)}")
    worker.wait_ready(LIMIT_S)
    name, _ = consume(bench, worker, topic, "*", group, api=api, behaviour={"block": "all"})
    bench.send(topic, "tagA", 0)
    bench.seen.wait(name, "blocked", 1)
    bench.deaths.clear()
    worker.terminate()
    worker.wait_terminated(LIMIT_S)
    assert (worker.returncode, bench.deaths) == (143, [])
    return name


@pytest.mark.parametrize("api", ["push", "simple"])
def test_sigterm_waits_for_no_listener_that_blocks(bench: Bench, group: str, api: str) -> None:
    name = _leaves_while_its_listener_blocks(bench, group, api)
    assert bench.seen.of(name, "consumed") == []


@pytest.mark.nightly
@pytest.mark.parametrize("api", ["push", "simple"])
def test_sigterm_says_goodbye(bench: Bench, api: str) -> None:
    """A race of the client's own: it sends its goodbye and closes the channel without waiting for the answer
    (`Client.shutdown`, 5.1.2), so that a busy machine may lose one. Of three, one arrives at least."""
    left = []
    for _ in range(3):
        group = f"group-{next(bench.numbers)}"
        create_group(bench.admin, group, [bench.broker.address])
        _leaves_while_its_listener_blocks(bench, group, api)
        left.append(look_until(partial(failure, partial(bench.connection, group)), bool, LIMIT_S, 0.05))
    assert 206 in [None if seen is None else seen.code for seen in left], left


def test_what_a_killed_consumer_leaves_goes_to_others(bench: Bench, group: str) -> None:
    topic = bench.topic()
    worker = bench.spawn("grpc", "victim")
    worker.wait_ready(LIMIT_S)
    name, client_id = consume(bench, worker, topic, "*", group)
    bench.send(topic, "tagA", 0)
    bench.seen.wait(name, "consumed", 1)
    process = psutil.Process(worker.pid)
    worker.kill()
    assert worker.returncode == -signal.SIGKILL
    assert not process.is_running()
    # The proxy isn't told that a connection broke: it lists who sends no heartbeats for 120 s more.
    assert [item["client_id"] for item in bench.online(group)["connections"]] == [client_id]

    heir = bench.spawn("grpc", "heir")
    heir.wait_ready(LIMIT_S)
    name, _ = consume(bench, heir, topic, "*", group)
    bench.send(topic, "tagA", 1, key="after")
    assert [event["key"] for event in bench.seen.wait(name, "received", 1)] == ["after"]


@pytest.mark.parametrize("api", ["push", pytest.param("simple", marks=pytest.mark.nightly)])
def test_what_a_listener_fails_comes_again(bench: Bench, grpc: Worker, group: str, api: str) -> None:
    topic = bench.topic(queues=1)
    name, _ = consume(bench, grpc, topic, "*", group, api=api, behaviour={"fail": 1})
    bench.send(topic, "tagA", 0)
    statuses = [event["status"] for event in bench.seen.wait(name, "consumed", 2)]
    assert statuses == ["RECONSUME_LATER", "CONSUME_SUCCESS"]
    assert [event["reconsume_times"] for event in bench.seen.of(name, "received")] == [0, 1]


def test_a_blocking_listener_goes_on_when_it_is_released(bench: Bench, grpc: Worker, group: str) -> None:
    topic = bench.topic(queues=1)
    name, _ = consume(bench, grpc, topic, "*", group, behaviour={"block": "all"})
    bench.send(topic, "tagA", 0, key="one")
    assert bench.seen.wait(name, "blocked", 1)[0]["key"] == "one"
    assert bench.seen.of(name, "consumed") == []
    grpc.request("release-listener", LIMIT_S, name=name)
    assert bench.seen.wait(name, "consumed", 1)[0]["status"] == "CONSUME_SUCCESS"


def test_a_running_consumer_subscribes_and_gives_up(bench: Bench, grpc: Worker, group: str) -> None:
    first, second = bench.topic(), bench.topic()
    name, _ = consume(bench, grpc, first, "tagA", group)
    grpc.request("subscribe", LIMIT_S, name=name, topic=second, expression="tagB")
    bench.send(second, "tagB", 0, key="two")
    assert [event["key"] for event in bench.seen.wait(name, "received", 1)] == ["two"]
    grpc.request("unsubscribe", LIMIT_S, name=name, topic=second)


def test_a_producer_s_message_is_found_where_the_proxy_put_it(bench: Bench, grpc: Worker) -> None:
    assert bench.cluster.proxy is not None
    topic = bench.topic()
    endpoint = bench.cluster.proxy.grpc_endpoint
    grpc.request("start-producer", LIMIT_S, name="p", group="p", endpoint=endpoint, **bench.identity("p"))
    message = {"topic": topic, "tag": "tagA", "key": "k", "body": "hello", "timeout_ms": 3000}
    sent = grpc.request("send", LIMIT_S, name="p", queue=None, keys=["other"], **message)
    assert (sent["status"], sent["broker"], sent["queue_id"]) == ("SEND_OK", None, None)
    found = locate(bench.admin, topic, sent["msg_id"])
    assert (found["broker"], found["queue_offset"]) == (bench.broker.name, 0)
    ends = [end for end, _ in bench.offsets("nobody", topic)]
    assert ends[found["queue_id"]] == 1

    to_a_queue = failure(
        lambda: grpc.request("send", LIMIT_S, name="p", queue={"broker": "broker-a", "id": 1}, **message)
    )
    assert "can't choose a queue" in str(to_a_queue)
    grpc.request("stop-producer", LIMIT_S, name="p")


def test_the_keys_of_a_producer_s_message_keep_their_order(bench: Bench, grpc: Worker, group: str) -> None:
    """Other clients take the first one for the harness's own."""
    assert bench.cluster.proxy is not None
    topic, further = bench.topic(), [f"further-{number}" for number in range(8)]
    name = bench.consume(topic, "*", group=group)
    endpoint = bench.cluster.proxy.grpc_endpoint
    grpc.request("start-producer", LIMIT_S, name="q", group="q", endpoint=endpoint, **bench.identity("q"))
    message = {"topic": topic, "tag": None, "key": "own", "body": "hello", "timeout_ms": 3000}
    grpc.request("send", LIMIT_S, name="q", queue=None, keys=further, **message)
    (event,) = bench.seen.wait(name, "received", 1)
    assert (event["key"], event["keys"]) == ("own", further)
    grpc.request("stop-producer", LIMIT_S, name="q")


@pytest.mark.parametrize("api", ["push", pytest.param("simple", marks=pytest.mark.nightly)])
def test_a_group_that_isn_t_there_is_refused(bench: Bench, grpc: Worker, api: str) -> None:
    topic = bench.topic()
    refused = failure(lambda: consume(bench, grpc, topic, "*", "nobody-made-it", api=api))
    assert "settings" in str(refused)


def test_what_it_can_t_tell_is_refused(bench: Bench, grpc: Worker, group: str) -> None:
    topic = bench.topic()
    name, _ = consume(bench, grpc, topic, "*", group)
    owned = failure(lambda: grpc.request("assignment", LIMIT_S, name=name))
    assert "owns no queues" in str(owned)
    pulls = failure(lambda: grpc.request("pull-counts", LIMIT_S, name=name, topic=topic))
    assert "counts no pulls" in str(pulls)


@pytest.mark.nightly
def test_a_proxy_of_its_own_serves_consumers_of_which_brokers_know_nothing(tmp_path: Path) -> None:
    needs = ClusterNeeds(proxy="cluster")
    cluster = EmbeddedCluster("5.5.0", COMPRESSED, tmp_path / "cluster", owner="tests", needs=needs)
    cluster.start()
    bench = Bench(cluster, tmp_path / "workers")
    try:
        assert [node.role for node in cluster.nodes] == ["nameserver", "broker", "proxy"]
        assert cluster.proxy is not None
        topic = bench.topic()
        create_group(bench.admin, "g", [bench.broker.address])
        worker = bench.spawn("grpc", "grpc")
        worker.wait_ready(LIMIT_S)
        name, client_id = consume(bench, worker, topic, "tagA", "g")
        bench.send(topic, "tagA", 2)
        assert bench.seen.wait(name, "received", 1)[0]["queue_id"] == 2
        assert (failure(lambda: bench.connection("g")) or pytest.fail("known")).code == 206
        there = bench.admin.connection("g", cluster.proxy.remoting_address)
        assert [item["client_id"] for item in there["connections"]] == [client_id]
    finally:
        bench.release()
        cluster.stop()
    assert [node.pid for node in cluster.nodes if node.pid and psutil.pid_exists(node.pid)] == []
