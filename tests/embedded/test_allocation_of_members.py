"""Who owns which queues, by every strategy of a consumer, on a real RocketMQ."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest

from rocketchaos.assertions.view import owned_queues
from rocketchaos.harness.live import LiveRun
from tests.embedded.live_events import keys, seen, wait_for_keys

pytestmark = [pytest.mark.embedded, pytest.mark.extended]


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


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(fields, id=name, marks=[] if name == "differing" else [pytest.mark.nightly])
        for name, fields in STRATEGIES.items()
    ],
)
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
        own = [item["queue_id"] for item in event.data["queues"] if item["topic"] == "orders"]
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


@pytest.mark.nightly
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
