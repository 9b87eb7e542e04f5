"""`subscribe-refused`: what it answers, and where it can't."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.assertions.subscribe_refused import SubscribeRefused
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds
from tests.unit.history_builder import HistoryBuilder, scenario_of
from tests.unit.scenario.examples import scenario_text


@pytest.mark.parametrize(
    ("stated", "holds"),
    [
        ({}, Holds.YES),
        ({"because": "split error"}, Holds.YES),
        ({"because": "no route"}, Holds.NO),
        ({"exception": "MQClientException"}, Holds.YES),
        ({"code": 1}, Holds.NO),
        ({"consumer": "b"}, Holds.NO),
    ],
    ids=str,
)
def test_what_was_said_is_what_is_stated(stated: dict[str, Any], holds: Holds) -> None:
    scenario = scenario_of(scenario_text("start: a"))
    made = HistoryBuilder().begin(scenario)
    check = SubscribeRefused(**{"consumer": "a", "topic": "orders", **stated})
    assert check.evaluate(RunView(scenario, made.events)).holds is Holds.UNKNOWN
    said = {"error": "MQClientException: subString split error", "exceptions": ["MQClientException"]}
    made.add("a", "subscription-refused", topic="orders", expression="||", **said)
    made.add("harness", "moment-observed", moment="end")
    assert check.evaluate(RunView(scenario, made.events)).holds is holds
