"""What consumers subscribe to, while they run, with each pull, and from where, on a real RocketMQ."""

from __future__ import annotations

import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.live import LiveRun
from tests.embedded.live_events import OFFSET_LIMIT, seen, wait_for_keys

pytestmark = pytest.mark.embedded


@pytest.mark.nightly
@pytest.mark.extended
def test_subscribing_and_unsubscribing_while_it_runs(rocketmq: LiveRun) -> None:
    rocketmq.topic("bills", queues=1)
    rocketmq.consumer("a", group="g", subscribe={"orders": "tagA"})
    rocketmq.consumer("b", group="g", subscribe={"orders": "tagA"})
    rocketmq.start(["a", "b"])
    rocketmq.settle(subscription="g", topic="orders", within="40s")
    rocketmq.subscribe(consumer="b", topic="orders", expression="tagB")
    # Its own heartbeat is skipped where another one is under way (`sendHeartbeatToAllBrokerWithLock`).
    rocketmq.settle(subscription="g", topic="orders", within="40s")
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


@pytest.mark.extended
@pytest.mark.parametrize(
    ("chosen", "stored"),
    [
        ("first-offset", "CONSUME_FROM_FIRST_OFFSET"),
        pytest.param("last-offset", "CONSUME_FROM_LAST_OFFSET", marks=pytest.mark.nightly),
        pytest.param("timestamp", "CONSUME_FROM_TIMESTAMP", marks=pytest.mark.nightly),
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
