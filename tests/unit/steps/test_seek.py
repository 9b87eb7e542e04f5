"""`seek`: whom it moves, what the history tells of it, and who can't do it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.core.history import History
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.steps import STEPS
from tests.unit.scenario.examples import scenario_text


class Consumer:
    """Takes what it is to seek, or refuses it."""

    def __init__(self, refusal: RequestFailed | None = None) -> None:
        self.asked: list[tuple[str, Any, Any]] = []
        self._refusal = refusal

    def seek(self, topic: str, queue: Any, to: Any) -> list[dict[str, Any]]:
        self.asked.append((topic, queue, to))
        if self._refusal is not None:
            raise self._refusal
        return [{"broker": "broker-a", "queue_id": 3}]


def run(consumer: Consumer, **stated: Any) -> History:
    context = SimpleNamespace(
        history=History("run"),
        scenario=SimpleNamespace(brokers_of=lambda topic: ("broker-a",)),
        variables=SimpleNamespace(resolve=lambda names: names),
        consumers={"a": consumer},
    )
    STEPS["seek"].model_validate({"consumer": "a", "topic": "orders", **stated}).run(cast(Any, context))
    return context.history


@pytest.mark.parametrize(
    ("stated", "queue", "to"),
    [
        ({"to": 7}, None, 7),
        ({"to": "end", "queue": 3}, ("broker-a", 3), "end"),
        ({"to": -1, "queue": 3, "broker": "broker-b"}, ("broker-b", 3), -1),
    ],
    ids=str,
)
def test_a_seek_is_reported(stated: dict[str, Any], queue: Any, to: Any) -> None:
    consumer = Consumer()
    event = run(consumer, **stated).events[-1]
    assert consumer.asked == [("orders", queue, to)]
    queues = [{"broker": "broker-a", "queue_id": 3}]
    assert (event.kind, event.node, event.data) == (
        "sought",
        "a",
        {"topic": "orders", "to": str(to), "queues": queues},
    )


def test_a_refused_seek_is_reported_if_it_may_be() -> None:
    refusal = RequestFailed("Seek offset illegal", None, ("MQClientException",))
    event = run(Consumer(refusal), to=7, may_be_refused=True).events[-1]
    assert (event.kind, cast(Any, event.body).error) == ("seek-refused", refusal.message)
    with pytest.raises(RequestFailed):
        run(Consumer(refusal), to=7)
    with pytest.raises(RequestFailed):
        run(Consumer(RequestFailed("it has no queue of orders", None)), to=7, may_be_refused=True)


def test_only_who_runs_seeks() -> None:
    steps = ("start: a", "stop: a", "seek: {consumer: a, topic: orders, to: end}")
    with pytest.raises(InvalidScenario, match="it must be running"):
        parse_scenario(scenario_text(*steps), "s.yaml")


def test_a_broker_needs_its_queue() -> None:
    seek = "seek: {consumer: a, topic: orders, broker: broker-a, to: end}"
    with pytest.raises(InvalidScenario, match="give `queue` too"):
        parse_scenario(scenario_text("start: a", seek), "s.yaml")


def test_a_client_without_seek_is_named() -> None:
    text = scenario_text("start: a", "seek: {consumer: a, topic: orders, to: end}")
    scenario = parse_scenario(text, "s.yaml")
    assert "DefaultMQPushConsumer of RocketMQ's Java client has no seek()" in str(
        scenario.why_not_on("5.5.0")
    )
    lite = parse_scenario(
        text.replace(
            "{group: g, subscribe: {orders: tagA}}", "{group: g, api: lite-pull, subscribe: {orders: tagA}}"
        ),
        "s.yaml",
    )
    assert lite.why_not_on("5.5.0") is None
