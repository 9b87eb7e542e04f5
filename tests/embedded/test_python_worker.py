"""The `python` worker, rocketmq-client-python over the C++ client, against real brokers."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from rocketchaos.harness.cluster.embedded import EmbeddedCluster
from rocketchaos.harness.core.errors import EnvironmentNotReady, RequestFailed
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED
from rocketchaos.harness.workers.native_library import LIBRARY_VARIABLE
from rocketchaos.harness.workers.worker import Worker
from tests.embedded.workbench import LIMIT_S, Bench, Event, failure, until

pytestmark = pytest.mark.embedded


ON_BOTH = pytest.mark.parametrize(
    "bench", ["4.9.4", pytest.param("5.5.0", marks=pytest.mark.nightly)], indirect=True, scope="module"
)
"""For what may differ between brokers; the rest is the client's own affair."""


@pytest.fixture(scope="module")
def bench(
    request: pytest.FixtureRequest, cluster: EmbeddedCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    version = getattr(request, "param", cluster.version)
    own = version != cluster.version
    chosen = (
        EmbeddedCluster(version, COMPRESSED, tmp_path_factory.mktemp("cluster"), owner="tests")
        if own
        else cluster
    )
    if own:
        chosen.start()
    bench = Bench(chosen, tmp_path_factory.mktemp("workers"))
    yield bench
    bench.release()
    if own:
        chosen.stop()


@pytest.fixture
def worker(bench: Bench) -> Iterator[Worker]:
    yield (item := spawn(bench))
    item.kill()


def spawn(bench: Bench) -> Worker:
    worker = bench.spawn("python", f"python-{next(bench.numbers)}")
    worker.wait_ready(LIMIT_S)
    return worker


def consume(
    bench: Bench, worker: Worker, topic: str, expression: str, group: str, **more: Any
) -> tuple[str, str]:
    """Start a consumer; returns its name and its client id."""
    name = f"c-{next(bench.numbers)}"
    wanted = {"name": name, "group": group, "subscribe": {topic: expression}, "settings": {}, **more}
    answer = worker.request("start-consumer", LIMIT_S, **wanted, **bench.identity(name))
    return name, answer["client_id"]


def queues(bench: Bench, group: str, client_id: str, topic: str) -> list[int]:
    """The client's queues, which it tells the broker that asks it (307)."""
    shown = bench.admin.running_info(group, client_id, bench.broker.address, 3000)
    return sorted(queue["queue_id"] for queue in shown["queues"] if queue["topic"] == topic)


def subscription(bench: Bench, group: str, client_id: str, topic: str) -> Event:
    """The client's subscription, which it tells the broker that asks it (307)."""
    subscriptions = bench.admin.running_info(group, client_id, bench.broker.address, 3000)["subscriptions"]
    return dict(subscriptions[topic])


@ON_BOTH
def test_two_members_get_the_messages_of_their_own_tags_in_their_own_queues(
    bench: Bench, worker: Worker, group: str
) -> None:
    topic = bench.topic()
    other = spawn(bench)
    a, id_a = consume(bench, worker, topic, "tagA", group)
    b, id_b = consume(bench, other, topic, "tagB", group)
    owned = until(
        lambda: {name: queues(bench, group, id_, topic) for name, id_ in ((a, id_a), (b, id_b))},
        lambda seen: sorted(itertools.chain(*seen.values())) == [0, 1, 2, 3],
    )
    # The ids begin with a pid: whose is the first is chance.
    assert sorted(owned.values()) == [[0, 1], [2, 3]]
    sent = {
        f"{tag}-{queue}": bench.send(topic, tag, queue, f"{tag}-{queue}")
        for queue in range(4)
        for tag in ("tagA", "tagB")
    }
    until(lambda: bench.offsets(group, topic), lambda seen: seen == [(2, 2)] * 4)
    for name, tag in ((a, "tagA"), (b, "tagB")):
        own = {f"{tag}-{queue}" for queue in owned[name]}
        # The broker may have the offset earlier: from a former owner, whose pull found nothing of its tag.
        received = until(
            lambda name=name: {event["key"]: event for event in bench.seen.of(name, "received")},
            lambda seen, own=own: own <= set(seen),
        )
        assert set(received) == own
        for key, event in received.items():
            answer = sent[key]
            assert event == {
                "consumer": name,
                "topic": topic,
                "tag": tag,
                "key": key,
                "keys": [],
                "broker": bench.broker.name,
                "queue_id": answer["queue_id"],
                "offset": answer["queue_offset"],
                "msg_id": answer["msg_id"],
                "offset_msg_id": answer["offset_msg_id"],
                "reconsume_times": 0,
                "batch": 1,
            }
    other.kill()


@ON_BOTH
def test_brokers_know_it_by_its_client_id_and_its_codes_are_no_hashes(
    bench: Bench, worker: Worker, group: str
) -> None:
    topic = bench.topic()
    _, client_id = consume(bench, worker, topic, "tagB || 7", group)
    found = bench.online(group)
    assert [(item["client_id"], item["language"]) for item in found["connections"]] == [(client_id, "CPP")]
    subscription = found["subscriptions"][topic]
    # SubscriptionData::putCodeSet takes atoi of the tag.
    assert sorted(subscription["codes"]) == [0, 7]
    assert sorted(subscription["tags"]) == ["7", "tagB"]


@pytest.mark.extended
def test_it_drops_itself_what_only_hashes_like_its_tag(bench: Bench, worker: Worker, group: str) -> None:
    topic = bench.topic(queues=1)
    name, _ = consume(bench, worker, topic, "Aa", group)
    for tag in ("BB", "tagB", "Aa"):
        bench.send(topic, tag, 0, tag)
    assert [event["tag"] for event in bench.seen.wait(name, "received", 1)] == ["Aa"]
    until(lambda: bench.offsets(group, topic), lambda seen: seen == [(3, 3)])
    assert len(bench.seen.of(name, "received")) == 1


@ON_BOTH
def test_a_change_of_its_queues_does_not_raise_its_version(bench: Bench, worker: Worker, group: str) -> None:
    topic = bench.topic()
    # The one that leaves is the one that came first: the other never had its queues. A queue that comes back while
    # the pull for it is still held hangs the C++ client for ever (RebalancePush::updateRequestTableInRebalance).
    leaves = spawn(bench)
    _, id_a = consume(bench, leaves, topic, "tagA", group)
    until(lambda: queues(bench, group, id_a, topic), lambda seen: seen == [0, 1, 2, 3])
    _, id_b = consume(bench, worker, topic, "tagB", group)
    until(lambda: queues(bench, group, id_b, topic), lambda seen: len(seen) == 2)
    stored, told = bench.online(group, 2)["subscriptions"][topic], subscription(bench, group, id_b, topic)
    assert (stored["expression"], stored["sub_version"]) == ("tagB", told["sub_version"])
    leaves.kill()
    until(lambda: queues(bench, group, id_b, topic), lambda seen: seen == [0, 1, 2, 3])
    assert subscription(bench, group, id_b, topic) == told
    assert bench.connection(group)["subscriptions"][topic] == stored


@pytest.mark.extended
def test_a_failed_message_comes_again_under_its_own_topic(bench: Bench, worker: Worker, group: str) -> None:
    topic = bench.topic(queues=1)
    name, _ = consume(bench, worker, topic, "*", group, behaviour={"fail": 1})
    sent = bench.send(topic, "tagA", 0)
    consumed = bench.seen.wait(name, "consumed", 2)
    first, again = bench.seen.of(name, "received")
    assert [event["status"] for event in consumed] == ["RECONSUME_LATER", "CONSUME_SUCCESS"]
    assert (first["reconsume_times"], again["reconsume_times"]) == (0, 1)
    assert first["topic"] == again["topic"] == topic
    assert first["msg_id"] == again["msg_id"] == sent["msg_id"]
    assert first["offset_msg_id"] == sent["offset_msg_id"] != again["offset_msg_id"]


@pytest.mark.extended
def test_an_orderly_listener_tries_in_place(bench: Bench, worker: Worker, group: str) -> None:
    topic = bench.topic(queues=1)
    name, _ = consume(bench, worker, topic, "*", group, listener="orderly", settings={"consumeThreadMin": 2})
    keys = [f"k{number}" for number in range(5)]
    for key in keys:
        bench.send(topic, "tagA", 0, key)
    assert [event["key"] for event in bench.seen.wait(name, "consumed", 5)] == keys


@pytest.mark.extended
def test_a_listener_blocks_until_it_is_released(bench: Bench, worker: Worker, group: str) -> None:
    topic = bench.topic(queues=1)
    name, _ = consume(bench, worker, topic, "*", group, behaviour={"block": ["held"]})
    bench.send(topic, "tagA", 0, "held")
    bench.seen.wait(name, "blocked", 1)
    assert bench.seen.of(name, "consumed") == []
    worker.request("release-listener", LIMIT_S, name=name)
    assert [event["key"] for event in bench.seen.wait(name, "consumed", 1)] == ["held"]


@pytest.mark.extended
def test_broadcasting_members_get_everything(bench: Bench, worker: Worker, group: str) -> None:
    topic = bench.topic(queues=2)
    other = spawn(bench)
    names = [consume(bench, item, topic, "*", group, model="broadcasting")[0] for item in (worker, other)]
    for queue in range(2):
        bench.send(topic, None, queue, f"k{queue}")
    for name in names:
        found = bench.seen.wait(name, "received", 2)
        assert sorted((event["key"], event["tag"]) for event in found) == [("k0", None), ("k1", None)]
    other.kill()


@pytest.mark.extended
def test_stop_says_goodbye_also_where_the_listener_blocks(bench: Bench, worker: Worker, group: str) -> None:
    topic = bench.topic(queues=1)
    name, _ = consume(bench, worker, topic, "*", group, behaviour={"block": "all"})
    bench.send(topic, "tagA", 0)
    bench.seen.wait(name, "blocked", 1)
    worker.request("stop-consumer", LIMIT_S, name=name)
    refused = failure(lambda: bench.connection(group))
    assert refused is not None
    assert refused.code == 206
    assert bench.seen.of(name, "consumed") == []
    worker.stop(LIMIT_S)
    assert worker.returncode == 0


@pytest.mark.extended
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_member_that_dies_is_dropped_and_its_signal_is_named(
    bench: Bench, worker: Worker, group: str, number: signal.Signals
) -> None:
    topic = bench.topic()
    other = spawn(bench)
    # The one that dies is the one that came first: the other never had its queues (see above).
    consume(bench, other, topic, "*", group)
    _, id_b = consume(bench, worker, topic, "*", group)
    until(lambda: queues(bench, group, id_b, topic), lambda seen: len(seen) == 2)
    bench.deaths.clear()
    os.kill(other.pid, number)
    until(lambda: queues(bench, group, id_b, topic), lambda seen: seen == [0, 1, 2, 3])
    assert until(lambda: list(bench.deaths), len) == [
        (other.name, f"signal {number.name}", Trouble.ENVIRONMENT)
    ]


@pytest.mark.extended
def test_sigterm_stores_the_offsets_and_leaves_the_queues_to_the_other_member(
    bench: Bench, worker: Worker, group: str
) -> None:
    topic = bench.topic()
    # As above, the one that leaves is the one that came first.
    leaves = spawn(bench)
    leaver, id_a = consume(bench, leaves, topic, "*", group)
    stays, id_b = consume(bench, worker, topic, "*", group)
    until(lambda: queues(bench, group, id_b, topic), lambda seen: len(seen) == 2)
    for number in range(8):
        bench.send(topic, "tagA", number % 4, f"k{number}")
    bench.seen.wait(leaver, "consumed", 4)
    bench.seen.wait(stays, "consumed", 4)
    until(lambda: bench.noted_offsets(group, id_a, topic), lambda seen: seen == [2, 2])
    bench.deaths.clear()
    leaves.terminate()
    leaves.wait_terminated(LIMIT_S)
    ended_s = time.monotonic()
    assert (leaves.returncode, bench.deaths) == (143, [])
    until(lambda: queues(bench, group, id_b, topic), lambda seen: seen == [0, 1, 2, 3])
    assert time.monotonic() - ended_s < 10
    for queue in range(4):
        bench.send(topic, "tagA", queue, f"later-{queue}")
    bench.seen.wait(stays, "consumed", 8)
    keys = [event["key"] for name in (leaver, stays) for event in bench.seen.of(name, "received")]
    assert len(keys) == len(set(keys)) == 12


@pytest.mark.extended
def test_sigterm_waits_for_no_listener_that_blocks(bench: Bench, worker: Worker, group: str) -> None:
    topic = bench.topic(queues=1)
    name, _ = consume(bench, worker, topic, "*", group, behaviour={"block": "all"})
    bench.send(topic, "tagA", 0)
    bench.seen.wait(name, "blocked", 1)
    worker.terminate()
    worker.wait_terminated(LIMIT_S)
    assert worker.returncode == 143
    refused = failure(lambda: bench.connection(group))
    assert refused is not None
    assert refused.code == 206
    assert bench.seen.of(name, "consumed") == []


@pytest.mark.extended
def test_what_its_client_writes_lies_in_the_workers_folder(bench: Bench, worker: Worker, group: str) -> None:
    consume(bench, worker, bench.topic(), "*", group)
    (log,) = (bench.folder / worker.name / "logs" / "rocketmq-cpp").iterdir()
    until(log.read_text, lambda text: group in text)
    assert '"kind"' not in worker.log.read_text()


@pytest.mark.extended
@pytest.mark.parametrize(
    ("library", "said"),
    [(None, "cannot read file data"), ("libc.so.6", "undefined symbol: _ZNK8rocketmq")],
)
def test_a_library_that_can_not_be_used_ends_the_worker_with_one_line(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str | None, said: str
) -> None:
    (real,) = (
        Path(mapped.path) for mapped in psutil.Process().memory_maps() if mapped.path.endswith("/libc.so.6")
    )
    file = tmp_path / "librocketmq.so"
    file.write_bytes(real.read_bytes() if library else real.read_bytes()[:64])
    monkeypatch.setenv(LIBRARY_VARIABLE, str(file))
    worker = bench.spawn("python", f"python-{next(bench.numbers)}")
    with pytest.raises(
        EnvironmentNotReady, match=rf"died: exit code 1; (?s:.*)no C\+\+ client from {file}: .*{said}"
    ):
        worker.wait_ready(LIMIT_S)
    assert "Traceback" not in worker.log.read_text()


@pytest.mark.extended
def test_what_the_c_api_can_not_do_is_refused(bench: Bench, worker: Worker, group: str) -> None:
    topic = bench.topic()
    for with_, said in (
        ({"settings": {"maxReconsumeTimes": 3}}, "has no setting `maxReconsumeTimes`"),
        ({"subscribe": {topic: {"sql": "a = 1"}}}, "by tags alone, not by SQL"),
        ({"consume_from": "timestamp"}, "no `consume_from` that could be timestamp"),
        ({"retry_delay_level": 1}, "no `retry_delay_level` that could be 1"),
    ):
        with pytest.raises(RequestFailed, match=said):
            consume(bench, worker, topic, "*", group, **with_)
    name, _ = consume(bench, worker, topic, "*", group)
    for do, more in (
        ("subscribe", {"topic": "t", "expression": "*"}),
        ("unsubscribe", {"topic": topic}),
        ("assignment", {}),
        ("pull-counts", {"topic": topic}),
    ):
        with pytest.raises(RequestFailed):
            worker.request(do, LIMIT_S, name=name, **more)


@ON_BOTH
def test_a_producer_sends_to_the_given_queue_or_goes_round(bench: Bench, worker: Worker, group: str) -> None:
    topic = bench.topic()
    name = bench.consume(topic, "*", group=group)
    answer = worker.request("start-producer", LIMIT_S, name="p", group="p", **bench.identity("p"))
    assert answer["client_id"].startswith(f"{worker.pid}-")

    def send(queue_id: int | None, **more: Any) -> dict[str, Any]:
        queue = None if queue_id is None else {"broker": bench.broker.name, "id": queue_id}
        message = {"topic": topic, "tag": "tagA", "key": "k", "body": "hello", **more}
        return worker.request("send", LIMIT_S, name="p", queue=queue, timeout_ms=3000, **message)

    assert [send(None)["queue_id"] for _ in range(5)] == [0, 1, 2, 3, 0]
    sent = send(2, tag=None, key="marked", keys=["more"], properties={"a": "1"})
    bench.seen.wait(name, "received", 6)
    (event,) = (item for item in bench.seen.of(name, "received") if item["key"] == "marked")
    assert (event["tag"], event["keys"]) == (None, ["more"])
    assert {key: event[key] for key in ("broker", "queue_id", "msg_id", "offset_msg_id")} == {
        key: sent[key] for key in ("broker", "queue_id", "msg_id", "offset_msg_id")
    }
    assert (sent["status"], sent["queue_id"], sent["queue_offset"], event["offset"]) == ("SEND_OK", 2, 1, 1)
    with pytest.raises(RequestFailed, match="knows no queue 9"):
        send(9)
    unknown = failure(lambda: send(None, topic="nowhere"))
    assert unknown is not None
    assert unknown.code == 17
    worker.request("stop-producer", LIMIT_S, name="p")
