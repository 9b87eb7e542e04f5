"""The `java` worker against a real broker."""

from __future__ import annotations

import signal
import time

import psutil
import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady, RequestFailed
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED
from rocketchaos.harness.workers.worker import Worker
from tests.embedded.workbench import LIMIT_S, Bench, failure, until

pytestmark = pytest.mark.embedded

CONSUMER_MB = 120


def test_a_consumer_reports_each_message_with_queue_offset_and_ids(bench: Bench, group: str) -> None:
    topic = bench.topic()
    name = bench.consume(topic, "tagA", group=group)
    sent = [bench.send(topic, "tagA", queue, key=f"k{queue}") for queue in (2, 3)]
    sent.append(bench.send(topic, "tagA", 2, key="k2-again"))
    assert [answer["status"] for answer in sent] == ["SEND_OK"] * 3
    assert [(answer["queue_id"], answer["queue_offset"]) for answer in sent] == [(2, 0), (3, 0), (2, 1)]

    bench.seen.wait(name, "consumed", 3)
    received = {event["key"]: event for event in bench.seen.of(name, "received")}
    for key, answer in zip(("k2", "k3", "k2-again"), sent, strict=True):
        assert received[key] == {
            "consumer": name,
            "topic": topic,
            "tag": "tagA",
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
    assert sorted(bench.seen.of(name, "consumed"), key=lambda event: str(event["key"])) == [
        {
            "consumer": name,
            "key": key,
            "msg_id": received[key]["msg_id"],
            "offset_msg_id": received[key]["offset_msg_id"],
            "status": "CONSUME_SUCCESS",
        }
        for key in ("k2", "k2-again", "k3")
    ]


def test_without_a_queue_messages_go_round(bench: Bench) -> None:
    topic = bench.topic()
    assert sorted(bench.send(topic, None, None)["queue_id"] for _ in range(4)) == [0, 1, 2, 3]


def test_two_members_in_one_worker_are_two_clients(bench: Bench, group: str) -> None:
    topic = bench.topic()
    names = [bench.consume(topic, expression, group=group) for expression in ("tagA", "tagB")]
    connections = bench.online(group, 2)["connections"]
    assert [client["client_id"] for client in connections] == sorted(f"ip-{name}@i" for name in names)
    assert len({client["address"] for client in connections}) == 2


def test_pull_counts_tell_the_brokers_filter_from_the_clients(bench: Bench, group: str) -> None:
    topic = bench.topic(queues=1)
    name = bench.consume(topic, "Aa", group=group)
    assert bench.pull_counts(name, topic) == (0, 0)
    bench.send(topic, "tagB", 0)
    until(lambda: bench.offsets(group, topic), lambda seen: seen == [(1, 1)])
    assert bench.pull_counts(name, topic) == (0, 0)  # the broker passed over it
    bench.send(topic, "BB", 0)  # the same hash as Aa: only the client can tell
    until(lambda: bench.pull_counts(name, topic), lambda seen: seen == (1, 0))
    assert bench.seen.of(name, "received") == []
    bench.send(topic, "Aa", 0)
    until(lambda: bench.pull_counts(name, topic), lambda seen: seen == (2, 1))
    assert [event["tag"] for event in bench.seen.wait(name, "received", 1)] == ["Aa"]


def test_a_failed_message_comes_again_under_its_own_topic(bench: Bench, group: str) -> None:
    topic = bench.topic(queues=1)
    name = bench.consume(topic, "*", group=group, behaviour={"fail": 1}, retry_delay_level=1)
    sent = bench.send(topic, "tagA", 0)
    consumed = bench.seen.wait(name, "consumed", 2)
    first, again = bench.seen.of(name, "received")
    assert [event["status"] for event in consumed] == ["RECONSUME_LATER", "CONSUME_SUCCESS"]
    assert (first["reconsume_times"], again["reconsume_times"]) == (0, 1)
    assert first["topic"] == again["topic"] == topic
    assert first["msg_id"] == again["msg_id"] == sent["msg_id"]
    assert first["offset_msg_id"] == sent["offset_msg_id"] != again["offset_msg_id"]


def test_only_the_named_message_fails_and_takes_its_batch_with_it(bench: Bench, group: str) -> None:
    topic = bench.topic(queues=1)
    for key in ("good", "bad", "fine"):
        bench.send(topic, "tagA", 0, key)
    name = bench.consume(
        topic,
        "*",
        group=group,
        settings={**COMPRESSED.client_settings, "consumeMessageBatchMaxSize": 3},
        behaviour={"fail": 1, "only": ["bad"]},
        retry_delay_level=1,
    )
    consumed = bench.seen.wait(name, "consumed", 6)
    assert [(event["key"], event["status"]) for event in consumed[:3]] == [
        ("good", "RECONSUME_LATER"),
        ("bad", "RECONSUME_LATER"),
        ("fine", "RECONSUME_LATER"),
    ]
    assert {event["status"] for event in consumed[3:]} == {"CONSUME_SUCCESS"}


def test_an_exception_in_the_listener_is_reported_and_the_message_comes_again(
    bench: Bench, group: str
) -> None:
    topic = bench.topic(queues=1)
    name = bench.consume(topic, "*", group=group, behaviour={"fail": "no number"}, retry_delay_level=1)
    bench.send(topic, "tagA", 0)
    errors = bench.seen.wait(name, "listener-error", 2)
    assert all(error["error"].startswith("TypeError: ") for error in errors)
    assert [event["reconsume_times"] for event in bench.seen.of(name, "received")][:2] == [0, 1]
    assert bench.seen.of(name, "consumed") == []
    bench.java.request("stop-consumer", LIMIT_S, name=name)


def test_the_broker_drops_a_killed_consumer(bench: Bench, group: str) -> None:
    topic = bench.topic()
    worker = bench.spawn("java", "victim")
    worker.wait_ready(LIMIT_S)
    name = bench.consume(topic, "tagA", group=group, worker=worker)
    bench.send(topic, "tagA", 0)
    bench.seen.wait(name, "consumed", 1)
    assert psutil.Process(worker.pid).memory_info().rss < CONSUMER_MB * 1_000_000
    assert len(bench.online(group)["connections"]) == 1

    worker.kill()
    assert worker.returncode == -signal.SIGKILL
    assert until(lambda: failure(lambda: bench.connection(group)), lambda seen: seen is not None).code == 206

    # What it printed is no protocol, and what its client logged lies beside it.
    assert '"kind"' not in worker.log.read_text()
    assert group in (bench.folder / "victim" / "rocketmq_client.log").read_text()


def assigned(worker: Worker, name: str) -> int:
    return len(worker.request("assignment", LIMIT_S, name=name)["queues"])


RARE = {**COMPRESSED.client_settings, "persistConsumerOffsetInterval": 600_000}
"""By itself a consumer stores no offset for long."""


def test_sigterm_stores_the_offsets(bench: Bench, group: str) -> None:
    topic = bench.topic()
    worker = bench.spawn("java", "leaver")
    worker.wait_ready(LIMIT_S)
    leaver = bench.consume(topic, "*", group=group, worker=worker, settings=RARE, behaviour={"slow_ms": 200})
    for number in range(12):
        bench.send(topic, "tagA", number % 4, key=f"k{number}")
    bench.seen.wait(leaver, "consumed", 12)
    until(lambda: bench.noted_offsets(group, f"ip-{leaver}@i", topic), lambda seen: seen == [3] * 4)
    worker.terminate()
    worker.wait_terminated(LIMIT_S)
    until(lambda: bench.offsets(group, topic), lambda seen: seen == [(3, 3)] * 4)


def test_sigterm_leaves_the_queues_to_the_other_member(bench: Bench, group: str) -> None:
    topic = bench.topic()
    worker = bench.spawn("java", "leaver")
    worker.wait_ready(LIMIT_S)
    # No pull brings along what it handles after it.
    leaver = bench.consume(topic, "*", group=group, worker=worker, settings=RARE, behaviour={"slow_ms": 200})
    stays = bench.consume(topic, "*", group=group)
    # The retry topic has a queue of its own, which one of them gets.
    until(lambda: (assigned(worker, leaver), assigned(bench.java, stays)), lambda seen: min(seen) >= 2)
    until(lambda: sum((assigned(worker, leaver), assigned(bench.java, stays))), lambda seen: seen == 5)
    for number in range(12):
        bench.send(topic, "tagA", number % 4, key=f"k{number}")
    bench.seen.wait(leaver, "consumed", 6)
    bench.seen.wait(stays, "consumed", 6)

    bench.deaths.clear()
    worker.terminate()
    worker.wait_terminated(LIMIT_S)
    ended_s = time.monotonic()
    assert worker.returncode == 143
    assert bench.deaths == []
    assert [item["client_id"] for item in bench.connection(group)["connections"]] == [f"ip-{stays}@i"]
    until(lambda: assigned(bench.java, stays), lambda seen: seen == 5)
    # Brokers take a member whose connection says nothing for one that lives for 120 s.
    assert time.monotonic() - ended_s < 10
    for queue in range(4):
        bench.send(topic, "tagA", queue, key=f"later-{queue}")
    bench.seen.wait(stays, "consumed", 10)
    until(lambda: bench.offsets(group, topic), lambda seen: seen == [(4, 4)] * 4)
    of_leaver, of_stays = (
        [event["key"] for event in bench.seen.of(name, "received")] for name in (leaver, stays)
    )
    assert len({*of_leaver, *of_stays}) == 16
    # The last offsets go one-way (RemoteBrokerOffsetStore, 4.9.4): the other member may ask before they are
    # stored, and gets what the leaver had, but nothing twice.
    assert len(of_leaver) == len(set(of_leaver))
    assert len(of_stays) == len(set(of_stays))


def test_sigterm_waits_for_no_listener_that_blocks(bench: Bench, group: str) -> None:
    topic = bench.topic(queues=1)
    worker = bench.spawn("java", "blocked")
    worker.wait_ready(LIMIT_S)
    name = bench.consume(topic, "*", group=group, worker=worker, behaviour={"block": "all"})
    bench.send(topic, "tagA", 0)
    bench.seen.wait(name, "blocked", 1)
    worker.terminate()
    worker.wait_terminated(LIMIT_S)
    assert worker.returncode == 143
    refused = failure(lambda: bench.connection(group))
    assert refused is not None
    assert refused.code == 206
    assert bench.seen.of(name, "consumed") == []


def test_sigterm_ends_a_worker_without_clients_at_once(bench: Bench) -> None:
    worker = bench.spawn("java", "idle")
    worker.wait_ready(LIMIT_S)
    worker.terminate()
    worker.wait_terminated(3)
    assert worker.returncode == 143


def test_stop_consumer_says_goodbye(bench: Bench, group: str) -> None:
    name = bench.consume(bench.topic(), "*", group=group)
    assert bench.online(group)["connections"] != []
    bench.java.request("stop-consumer", LIMIT_S, name=name)
    with pytest.raises(RequestFailed) as raised:
        bench.connection(group)
    assert raised.value.code == 206
    with pytest.raises(RequestFailed, match=f"nothing named `{name}` runs in this worker"):
        bench.java.request("stop-consumer", LIMIT_S, name=name)


def test_what_the_client_refuses_has_no_code(bench: Bench, group: str) -> None:
    topic = bench.topic()
    for with_, said in (
        (
            {"settings": {"heartbeats": 1}},
            "DefaultMQPushConsumer of this version has no setting `heartbeats`",
        ),
        ({"settings": {"pullBatchSize": "many"}}, "setPullBatchSize doesn't take 'many'"),
        ({"subscribe": {topic: "||"}}, "subString split error"),
        ({"group": "no group!"}, "illegal characters"),
    ):
        wanted = {
            "name": "x",
            "group": group,
            "subscribe": {topic: "*"},
            "settings": {},
            **bench.identity("x"),
        }
        with pytest.raises(RequestFailed, match=said) as raised:
            bench.java.request("start-consumer", LIMIT_S, **wanted | with_)
        assert raised.value.code is None
        assert "\n" not in raised.value.message


def test_a_jvm_that_does_not_start_says_why(bench: Bench) -> None:
    worker = bench.spawn("java", "stillborn", "-XX:+NoSuchOption")
    with pytest.raises(EnvironmentNotReady, match=r"worker stillborn died: exit code 1; (.|\n)*NoSuchOption"):
        worker.wait_ready(LIMIT_S)
    # What the other tests started lives on.
    ((name, reason, trouble),) = bench.deaths
    assert (name, trouble) == ("stillborn", Trouble.ENVIRONMENT)
    assert reason.startswith("exit code 1; ")
    assert "NoSuchOption" in reason
