"""`recall`: whom it asks, what the history tells of it, and who can't do it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.assertions import CHECKS
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.core.history import History
from rocketchaos.harness.core.model import Holds
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.scenario.version_needs import lacks_on
from rocketchaos.harness.steps import STEPS
from tests.unit.history_builder import HistoryBuilder, scenario_of
from tests.unit.scenario.examples import scenario_text

REFUSAL = RequestFailed(
    "MQBrokerException: recall failed, operation is forbidden", 16, ("MQBrokerException",)
)
DELAYED = "send: {topic: orders, count: 2, delay: 5s}"


class Producer:
    """Takes what it is to take back, or refuses it."""

    def __init__(self, refusal: RequestFailed | None = None) -> None:
        self.asked: list[tuple[str, str]] = []
        self._refusal = refusal

    def recall(self, topic: str, key: str) -> str:
        self.asked.append((topic, key))
        if self._refusal is not None:
            raise self._refusal
        return "7F00"


def run(producer: Producer, **stated: Any) -> History:
    context = SimpleNamespace(
        history=History("run"),
        check_alive=lambda: None,
        members=SimpleNamespace(producer={"producer": producer}.__getitem__),
    )
    STEPS["recall"].model_validate(stated).run(cast(Any, context))
    return context.history


def test_each_message_is_taken_back() -> None:
    producer = Producer()
    events = run(producer, messages=["new-orders-1", "new-orders-12"]).events
    assert producer.asked == [("new-orders", "new-orders-1"), ("new-orders", "new-orders-12")]
    assert [(event.kind, event.node, event.data) for event in events] == [
        ("recalled", "producer", {"key": f"new-orders-{number}", "topic": "new-orders", "msg_id": "7F00"})
        for number in (1, 12)
    ]


def test_a_refusal_is_reported_if_it_may_be() -> None:
    event = run(Producer(REFUSAL), messages="orders-1", may_be_refused=True).events[-1]
    assert (event.kind, event.data["code"], event.data["error"]) == ("recall-refused", 16, REFUSAL.message)
    with pytest.raises(RequestFailed):
        run(Producer(REFUSAL), messages="orders-1")


@pytest.mark.parametrize(
    ("key", "said"),
    [("bills-1", "there is no topic bills"), ("orders-3", "the steps send 2 messages to orders")],
)
def test_a_message_that_is_not_sent_is_a_mistake(key: str, said: str) -> None:
    with pytest.raises(InvalidScenario, match=said):
        parse_scenario(scenario_text("start: [a, b, c]", DELAYED, f"recall: {key}"), "s.yaml")


@pytest.mark.parametrize(("version", "able"), [("5.2.0", False), ("5.3.3", True), ("5.5.0", True)])
def test_only_newer_clients_have_it(version: str, able: bool) -> None:
    steps = ("start: [a, b, c]", DELAYED)
    assert lacks_on(scenario_of(scenario_text(*steps)), version) is None
    reason = lacks_on(scenario_of(scenario_text(*steps, "recall: orders-1")), version)
    assert (reason is None) is able
    assert able or "`recall` is of Java's clients >=5.3.2" in str(reason)


@pytest.mark.parametrize(
    ("stated", "holds"),
    [
        ({"count": 1}, Holds.YES),
        ({"count": 2}, Holds.NO),
        ({"count": 1, "code": 16, "because": "forbidden"}, Holds.YES),
        ({"count": 1, "because": "not found"}, Holds.NO),
        ({"count": 0, "topic": "bills"}, Holds.UNKNOWN),
    ],
    ids=str,
)
def test_what_was_refused_is_counted(stated: dict[str, Any], holds: Holds) -> None:
    scenario = scenario_of(scenario_text("start: a"))
    made = HistoryBuilder().begin(scenario)
    made.add("producer", "recalled", key="orders-1", topic="orders", msg_id="7F00")
    said = {"error": REFUSAL.message, "code": 16, "exceptions": ["MQBrokerException"]}
    made.add("producer", "recall-refused", key="orders-2", topic="orders", **said)
    made.add("harness", "moment-observed", moment="end")
    check = CHECKS["recall-refused"].model_validate({"topic": "orders", **stated})
    assert check.evaluate(RunView(scenario, made.events)).holds is holds
