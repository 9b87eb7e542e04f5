"""Every field of a consumer and of `send`, on a real RocketMQ."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

from assertions.view import owned_queues
from harness.campaign import Campaign, Options
from harness.errors import EnvironmentNotReady
from harness.live import LiveRun
from harness.model import Event

pytestmark = pytest.mark.embedded

BOTH = pytest.mark.parametrize("version", ["4.9.4", "5.5.0"])
OFFSET_LIMIT = "60s"


@pytest.fixture(scope="module")
def campaigns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Campaign]]:
    made: dict[str, Campaign] = {}

    def of(version: str) -> Campaign:
        if version not in made:
            runs = tmp_path_factory.mktemp(f"runs-{version}")
            made[version] = Campaign(Options(version=version, runs=runs, use_running=False))
        return made[version]

    yield of
    for campaign in made.values():
        campaign.close()


@pytest.fixture
def version() -> str:
    return "4.9.4"


@pytest.fixture
def rocketmq(
    campaigns: Callable[[str], Campaign], version: str, request: pytest.FixtureRequest
) -> Iterator[LiveRun]:
    with LiveRun(campaigns(version), request.node.originalname, "A client") as run:
        run.topic("orders", queues=4)
        yield run


def until(look: Callable[[], Any], limit_s: float = 40) -> Any:
    """What is seen as soon as it is true; otherwise the last thing seen is in the failure."""
    tries = Retrying(
        stop=stop_after_delay(limit_s),
        wait=wait_fixed(0.05),
        retry=retry_if_result(lambda seen: not seen),
        retry_error_callback=lambda state: pytest.fail(f"not within {limit_s} s: {look.__name__}"),
    )
    return tries(look)


def seen(run: LiveRun, kind: str, node: str | None = None) -> list[Event]:
    return [event for event in list(run.events) if event.kind == kind and node in (None, event.node)]


def keys(run: LiveRun, node: str, kind: str = "received") -> Counter[str]:
    return Counter(str(event.data["key"]) for event in seen(run, kind, node))


def wait_for_keys(run: LiveRun, node: str, count: int, kind: str = "received") -> Counter[str]:
    until(lambda: len(keys(run, node, kind)) >= count)
    return keys(run, node, kind)


def offsets(run: LiveRun, group: str) -> dict[int, int | None]:
    """The group's offsets, by queue id, as they are now."""
    run.observe(f"at-{len(run.events)}")
    queues = [event.data for event in seen(run, "offsets-observed") if event.data["group"] == group][-1][
        "queues"
    ]
    return {queue["queue_id"]: queue["consumer_offset"] for queue in queues}


# Kinds of consumers ----------------------------------------------------------------------------------------


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


# Listeners -------------------------------------------------------------------------------------------------


def test_an_orderly_listener_tries_again_in_place(rocketmq: LiveRun) -> None:
    rocketmq.consumer("a", group="g", listener="orderly", behaviour={"fail": 1}, subscribe={"orders": "*"})
    rocketmq.start("a")
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.send(topic="orders", count=6, queue=1)
    rocketmq.settle(offsets="g", topic="orders", within=OFFSET_LIMIT)
    received = [
        (event.data["key"], event.data["reconsume_times"]) for event in seen(rocketmq, "received", "a")
    ]
    assert received == [(f"orders-{number}", attempt) for number in range(1, 7) for attempt in (0, 1)]
    assert Counter(event.data["status"] for event in seen(rocketmq, "consumed", "a")) == {
        "SUSPEND_CURRENT_QUEUE_A_MOMENT": 6,
        "SUCCESS": 6,
    }
    rocketmq.check.delivered(to="a", count=6)


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


# Allocation ------------------------------------------------------------------------------------------------

STRATEGIES: dict[str, list[dict[str, Any]]] = {
    "average-by-circle": [{"strategy": "average-by-circle"}] * 2,
    "consistent-hash": [{"strategy": "consistent-hash"}] * 3,
    "by-config": [{"strategy": "by-config", "queues": [0, 3]}, {"strategy": "by-config", "queues": 1}],
    "machine-room": [{"strategy": "machine-room", "rooms": "east"}] * 2,
    "machine-room-nearby": [
        {"strategy": "machine-room-nearby", "client_id": "broker-near"},
        {"strategy": "machine-room-nearby", "client_id": "far-away"},
    ],
    "differing": [
        {"strategy": "average"},
        {"strategy": "average-by-circle"},
        {"strategy": "consistent-hash"},
    ],
}


@pytest.mark.parametrize("fields", STRATEGIES.values(), ids=list(STRATEGIES))
def test_each_member_owns_what_its_own_strategy_gives_it(
    rocketmq: LiveRun, fields: list[dict[str, Any]]
) -> None:
    names = "abc"[: len(fields)]
    for name, more in zip(names, fields, strict=True):
        rocketmq.consumer(name, group="g", subscribe={"orders": "*"}, **more)
    rocketmq.start(list(names))
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.check.ownership(topic="orders", group="g")
    rocketmq.send(topic="orders", count=8, per_queue=2)
    owned = defaultdict(list)
    for event in seen(rocketmq, "ownership-observed"):
        own = [one["queue_id"] for one in event.data["queues"] if one["topic"] == "orders"]
        owned[event.data["consumer"]].append(sorted(own))
    last = {name: own[-1] for name, own in owned.items()}
    for name in names:
        wait_for_keys(rocketmq, name, 2 * len(last[name]))
        rocketmq.check.delivered(to=name, at_least=2 * len(last[name]))
    if fields[0]["strategy"] == "by-config":
        assert last == {"a": [0, 3], "b": [1]}
        rocketmq.wait("6s", because="what is to come would have come by then")
        rocketmq.check.undelivered(count=2, because="stranded")
    if fields[0]["strategy"] == "machine-room":
        assert last == {"a": [], "b": []}
    if fields[0]["strategy"] == "machine-room-nearby":
        assert last == {"a": [0, 1, 2, 3], "b": []}


def test_by_config_has_no_retry_queue(rocketmq: LiveRun) -> None:
    rocketmq.consumer(
        "a",
        group="g",
        strategy="by-config",
        queues=[0, 1, 2, 3],
        behaviour={"fail": 1},
        retry_delay_level=1,
        subscribe={"orders": "*"},
    )
    rocketmq.start("a")
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.send(topic="orders", count=4, per_queue=1)
    wait_for_keys(rocketmq, "a", 4, "consumed")
    rocketmq.wait("6s", because="a second delivery would come 1 s after the first")
    assert keys(rocketmq, "a") == Counter(f"orders-{number}" for number in range(1, 5))
    rocketmq.check.undelivered(count=4, because="in-retry")


ROOMS: dict[str, tuple[list[str], dict[str, Any], dict[str, list[str]]]] = {
    "machine-room": (
        ["east@one", "west@two"],
        {"strategy": "machine-room", "rooms": "east"},
        {"east-a": ["east@one:0", "east@one:1"], "west-b": ["east@one:2", "east@one:3"]},
    ),
    "machine-room-nearby": (
        ["east-1", "west-2"],
        {"strategy": "machine-room-nearby"},
        {
            "east-a": [f"east-1:{number}" for number in range(4)],
            "west-b": [f"west-2:{number}" for number in range(4)],
        },
    ),
}


@pytest.mark.parametrize(("brokers", "fields", "owned"), ROOMS.values(), ids=list(ROOMS))
def test_machine_rooms_of_two_brokers(
    rocketmq: LiveRun, brokers: list[str], fields: dict[str, Any], owned: dict[str, list[str]]
) -> None:
    rocketmq.cluster(brokers=brokers)
    for name in owned:
        rocketmq.consumer(name, group="g", subscribe={"orders": "*"}, **fields)
    rocketmq.start(list(owned))
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.check.ownership(topic="orders", group="g")
    for name, queues in owned.items():
        last = [event for event in seen(rocketmq, "ownership-observed") if event.data["consumer"] == name][-1]
        assert owned_queues(last, "orders") == queues
    rocketmq.send(topic="orders", count=1, queue=0, broker=brokers[0])
    wait_for_keys(rocketmq, "east-a", 1)


# Subscriptions ---------------------------------------------------------------------------------------------


def test_subscribing_and_unsubscribing_while_it_runs(rocketmq: LiveRun) -> None:
    rocketmq.topic("bills", queues=1)
    rocketmq.consumer("a", group="g", subscribe={"orders": "tagA"})
    rocketmq.consumer("b", group="g", subscribe={"orders": "tagA"})
    rocketmq.start(["a", "b"])
    rocketmq.settle(subscription="g", topic="orders", within="40s")
    rocketmq.subscribe(consumer="b", topic="orders", expression="tagB")
    rocketmq.check.subscription(group="g", topic="orders", expression="tagB", claim="A22")
    # With a pull goes the expression of its beginning: those that were held must have come back.
    rocketmq.send(topic="orders", count=4, per_queue=1)
    rocketmq.settle(offsets="g", topic="orders", within=OFFSET_LIMIT)
    rocketmq.send(topic="orders", tag="tagB", count=8, per_queue=2)
    rocketmq.settle(offsets="g", topic="orders", within=OFFSET_LIMIT)
    rocketmq.check.delivered(to="b", count=4)
    rocketmq.check.undelivered(count=4, because="filtered-by-client")
    for name in "ab":
        rocketmq.subscribe(consumer=name, topic="bills", expression="*")
    rocketmq.settle(subscription="g", topic="bills", within="40s")
    for name in "ab":
        rocketmq.unsubscribe(consumer=name, topic="orders")
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.wait("3s", because="the next heartbeats tell the broker, once a second")
    rocketmq.check.subscription(group="g", topic="orders", absent=True, claim="A22")
    rocketmq.restart(["a", "b"])
    rocketmq.settle(subscription="g", topic="orders", within="40s")
    rocketmq.check.subscription(group="g", topic="orders", expression="tagA")
    rocketmq.check.subscription(group="g", topic="bills", absent=True)


def test_a_refusal_that_nobody_expects_ends_the_run(rocketmq: LiveRun) -> None:
    rocketmq.consumer("a", group="g", subscribe={"orders": {"sql": "a = 1"}})
    with pytest.raises(EnvironmentNotReady, match="does not support consumer to filter message by SQL92"):
        rocketmq.start("a")


def test_a_pull_that_carries_its_own_expression(rocketmq: LiveRun) -> None:
    for name, tag in (("a", "tagA"), ("b", "tagB")):
        rocketmq.consumer(name, group="g", post_subscription_when_pull=True, subscribe={"orders": tag})
    rocketmq.start(["a", "b"])
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.settle(subscription="g", topic="orders", within="40s")
    rocketmq.send(topic="orders", tags=["tagA", "tagB"], count=16, per_queue=4)
    rocketmq.settle(offsets="g", topic="orders", within=OFFSET_LIMIT)
    rocketmq.check.delivered(to="a", tag="tagA", count=4)
    rocketmq.check.delivered(to="b", tag="tagB", count=4)
    rocketmq.check.undelivered(count=8, because="filtered-by-broker")


@pytest.mark.parametrize(
    ("chosen", "stored"),
    [
        ("first-offset", "CONSUME_FROM_FIRST_OFFSET"),
        ("last-offset", "CONSUME_FROM_LAST_OFFSET"),
        ("timestamp", "CONSUME_FROM_TIMESTAMP"),
    ],
)
def test_where_a_new_group_begins(rocketmq: LiveRun, chosen: str, stored: str) -> None:
    rocketmq.consumer("z", group="other", subscribe={"orders": "*"})
    rocketmq.consumer("a", group="g", consume_from=chosen, subscribe={"orders": "*"})
    rocketmq.start("z")
    rocketmq.settle(ownership="other", within="40s")
    rocketmq.send(topic="orders", count=4, per_queue=1)
    rocketmq.start("a")
    rocketmq.observe("started")
    of_group = [event for event in seen(rocketmq, "subscription-observed") if event.data["group"] == "g"]
    assert of_group[-1].data["consume_from_where"] == stored
    # G14: whatever it says, a broker with all messages in memory lets a new group begin at 0.
    wait_for_keys(rocketmq, "a", 4)


# Producers -------------------------------------------------------------------------------------------------


def test_what_a_producer_gives_to_its_messages(rocketmq: LiveRun) -> None:
    rocketmq.consumer("a", group="g", subscribe={"orders": "*"})
    rocketmq.start("a")
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.send(
        topic="orders", tags=["tagA", "tagB"], count=5, queue=3, keys=["mine", "too"], every="200ms"
    )
    rocketmq.send(topic="orders", count=4)
    rocketmq.settle(offsets="g", topic="orders", within=OFFSET_LIMIT)
    sent = [event.data for event in seen(rocketmq, "sent")]
    assert [(one["tag"], one["queue_id"]) for one in sent[:5]] == [
        ("tagA", 3),
        ("tagB", 3),
        ("tagA", 3),
        ("tagB", 3),
        ("tagA", 3),
    ]
    assert sorted(one["queue_id"] for one in sent[5:]) == [0, 1, 2, 3]
    assert {one["tag"] for one in sent[5:]} == {None}
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
    assert len(seen(rocketmq, "consumer-stopped", "a")) == 1
