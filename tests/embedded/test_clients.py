"""Kinds of consumers, their listeners, and what producers send, on a real RocketMQ."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rocketchaos.harness.live import LiveRun
from tests.embedded.live_events import BOTH, OFFSET_LIMIT, offsets, seen, wait_for_keys

pytestmark = pytest.mark.embedded


@pytest.mark.extended
@BOTH
def test_lite_pull_divides_polls_and_commits(rocketmq: LiveRun) -> None:
    for name in "ab":
        rocketmq.consumer(name, group="g", api="lite-pull", subscribe={"orders": "*"})
    rocketmq.start(["a", "b"])
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.settle(subscription="g", topic="orders", within="40s")
    rocketmq.send(topic="orders", count=8, per_queue=2)
    rocketmq.settle(offsets="g", topic="orders", within=OFFSET_LIMIT)
    rocketmq.check.delivered(to="a", count=4, from_queues_of="a")
    rocketmq.check.delivered(to="b", count=4, from_queues_of="b")
    rocketmq.check.ownership(topic="orders", group="g")
    rocketmq.check.track(group="g", topic="orders", all="PULL", claim="C10")
    assert {event.data["status"] for event in seen(rocketmq, "consumed", "a")} == {"POLLED"}


@pytest.mark.extended
@pytest.mark.nightly
def test_lite_pull_is_filtered_by_its_own_expression(rocketmq: LiveRun) -> None:
    rocketmq.consumer("a", group="g", api="lite-pull", subscribe={"orders": "tagA"})
    rocketmq.consumer("b", group="g", api="lite-pull", subscribe={"orders": "tagB"})
    rocketmq.start(["a", "b"])
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.settle(subscription="g", topic="orders", within="40s")
    rocketmq.send(topic="orders", tags=["tagA", "tagB"], count=16, per_queue=4)
    # Its offset doesn't pass the last tagB of a's queues: it commits what it polled, and nothing beyond it.
    rocketmq.settle(offsets="g", topic="orders", lag=2, within=OFFSET_LIMIT)
    rocketmq.check.delivered(to="a", tag="tagA", count=4)
    rocketmq.check.delivered(to="b", tag="tagB", count=4)
    rocketmq.wait("6s", because="what is to come of the two that are in flight would have come by then")
    rocketmq.check.undelivered(count=6, because="filtered-by-broker")
    rocketmq.check.undelivered(count=2, because="in-flight")


@pytest.mark.extended
def test_broadcasting_everybody_gets_everything_and_keeps_its_own_offsets(rocketmq: LiveRun) -> None:
    for name in "ab":
        rocketmq.consumer(name, group="g", model="broadcasting", subscribe={"orders": "tagA"})
    rocketmq.start(["a", "b"])
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.send(topic="orders", tag="tagA", count=8, per_queue=2)
    for name in "ab":
        wait_for_keys(rocketmq, name, 8)
        rocketmq.check.delivered(to=name, count=8, claim="G11")
    rocketmq.check.ownership(topic="orders", group="g")
    # On again where it was: the offsets lie in the run's folder, and nowhere else.
    rocketmq.restart("a")
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.send(topic="orders", tag="tagA", count=4, per_queue=1)
    assert wait_for_keys(rocketmq, "a", 12) == Counter(f"orders-{number}" for number in range(1, 13))
    assert set(offsets(rocketmq, "g").values()) == {None}
    assert rocketmq.folder is not None
    files = list((rocketmq.folder / "logs" / "a").rglob("offsets.json"))
    assert len(files) == 1
    assert not (Path.home() / ".rocketmq_offsets").exists()


@pytest.mark.nightly
def test_an_orderly_listener_tries_again_in_place(rocketmq: LiveRun) -> None:
    rocketmq.consumer("a", group="g", listener="orderly", behaviour={"fail": 1}, subscribe={"orders": "*"})
    rocketmq.start("a")
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.send(topic="orders", count=6, queue=1)
    rocketmq.settle(offsets="g", topic="orders", within=OFFSET_LIMIT)
    rocketmq.check.delivered(to="a", count=6)
    received = [
        (event.data["key"], event.data["reconsume_times"]) for event in seen(rocketmq, "received", "a")
    ]
    assert received == [(f"orders-{number}", attempt) for number in range(1, 7) for attempt in (0, 1)]
    assert Counter(event.data["status"] for event in seen(rocketmq, "consumed", "a")) == {
        "SUSPEND_CURRENT_QUEUE_A_MOMENT": 6,
        "SUCCESS": 6,
    }


@pytest.mark.extended
def test_a_blocked_listener_that_is_stopped_reports_nothing_more(rocketmq: LiveRun) -> None:
    rocketmq.consumer("a", group="g", behaviour="block", subscribe={"orders": "*"})
    rocketmq.consumer("b", group="g", api="lite-pull", behaviour="block", subscribe={"orders": "*"})
    rocketmq.start(["a", "b"])
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.send(topic="orders", count=4, per_queue=1)
    for name, count in (("a", 2), ("b", 1)):
        wait_for_keys(rocketmq, name, count, "blocked")
    rocketmq.stop(["a", "b"])
    assert seen(rocketmq, "consumed") == []


@pytest.mark.extended
def test_a_slow_listener_with_one_thread_takes_one_after_the_other(rocketmq: LiveRun) -> None:
    rocketmq.consumer("a", group="g", threads=1, behaviour={"slow": "300ms"}, subscribe={"orders": "*"})
    rocketmq.start("a")
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.send(topic="orders", count=4, per_queue=1)
    wait_for_keys(rocketmq, "a", 4, "consumed")
    received, consumed = (
        sorted(event.mono_ns for event in seen(rocketmq, kind, "a")) for kind in ("received", "consumed")
    )
    assert all(end - begin >= 0.29e9 for begin, end in zip(received, consumed, strict=True))
    assert all(begin >= end for begin, end in zip(received[1:], consumed[:-1], strict=True))


def test_batches(rocketmq: LiveRun) -> None:
    rocketmq.consumer("a", group="g", batch_size=8, threads=1, subscribe={"orders": "*"})
    rocketmq.start("a")
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.stop("a")
    rocketmq.send(topic="orders", count=8, queue=0)
    rocketmq.start("a")
    wait_for_keys(rocketmq, "a", 8, "consumed")
    kinds = [event.kind for event in list(rocketmq.events) if event.kind in ("received", "consumed")]
    assert kinds == ["received"] * 8 + ["consumed"] * 8


def test_messages_of_a_batch_have_keys_of_their_own(rocketmq: LiveRun) -> None:
    rocketmq.consumer("a", group="g", subscribe={"orders": "*"})
    rocketmq.start("a")
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.send(topic="orders", count=6, batch=3, keys=["A-$number", "mine"])
    wait_for_keys(rocketmq, "a", 6)
    own = [(f"orders-{number}", [f"A-{number}", "mine"]) for number in range(1, 7)]
    for kind, node in (("sent", None), ("received", "a")):
        events = (event.data for event in seen(rocketmq, kind, node))
        assert sorted((item["key"], item["keys"]) for item in events) == own


def test_what_a_producer_gives_to_its_messages(rocketmq: LiveRun) -> None:
    rocketmq.consumer("a", group="g", subscribe={"orders": "*"})
    rocketmq.start("a")
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.send(
        topic="orders", tags=["tagA", "tagB"], count=5, queue=3, keys=["mine", "too"], every="200ms"
    )
    rocketmq.send(topic="orders", count=4)
    wait_for_keys(rocketmq, "a", 9)
    sent = [event.data for event in seen(rocketmq, "sent")]
    assert [(item["tag"], item["queue_id"]) for item in sent[:5]] == [
        ("tagA", 3),
        ("tagB", 3),
        ("tagA", 3),
        ("tagB", 3),
        ("tagA", 3),
    ]
    assert sorted(item["queue_id"] for item in sent[5:]) == [0, 1, 2, 3]
    assert {item["tag"] for item in sent[5:]} == {None}
    times = [event.mono_ns for event in seen(rocketmq, "send-invoked")]
    assert times[4] - times[0] >= 0.79e9
    received = {event.data["key"]: event.data for event in seen(rocketmq, "received", "a")}
    assert received["orders-1"]["keys"] == ["mine", "too"]
    assert received["orders-9"]["keys"] == []
    assert set(received) == {f"orders-{number}" for number in range(1, 10)}


@BOTH
def test_a_restart_is_a_new_process(rocketmq: LiveRun) -> None:
    rocketmq.consumer("a", group="g", subscribe={"orders": "*"})
    rocketmq.start("a")
    rocketmq.restart("a")
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.kill("a")
    rocketmq.restart("a")
    rocketmq.settle(ownership="g", within="40s")
    pids = [event.data["pid"] for event in seen(rocketmq, "consumer-started", "a")]
    assert len(set(pids)) == 3
    (stopping,), (stopped,) = (seen(rocketmq, f"consumer-{how}", "a") for how in ("stopping", "stopped"))
    assert stopping.n < stopped.n


@pytest.mark.extended
def test_arguments_of_its_jvm_are_its_own(rocketmq: LiveRun) -> None:
    rocketmq.consumer("a", group="g", subscribe={"orders": "*"}, jvm_args="-Xlog:gc+init")
    rocketmq.consumer("b", group="g", subscribe={"orders": "*"}, process="own")
    rocketmq.start(["a", "b"])
    rocketmq.settle(ownership="g", within="40s")
    assert rocketmq.folder is not None
    logs = [(rocketmq.folder / "logs" / f"{name}.log").read_text(encoding="utf-8") for name in "ab"]
    assert ["[gc,init]" in log for log in logs] == [True, False]
