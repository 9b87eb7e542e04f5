"""`seek-refused`: what it answers, and where it can't."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.assertions.seek_refused import SeekRefused
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds
from tests.unit.history_builder import HistoryBuilder, scenario_of
from tests.unit.scenario.examples import scenario_text


@pytest.mark.parametrize(
    ("stated", "holds"),
    [
        ({}, Holds.YES),
        ({"because": "offset illegal"}, Holds.YES),
        ({"because": "not in assigned list"}, Holds.NO),
        ({"exception": "MQClientException"}, Holds.YES),
        ({"code": 1}, Holds.NO),
        ({"consumer": "b"}, Holds.NO),
        ({"topic": "bills"}, Holds.NO),
    ],
    ids=str,
)
def test_what_was_said_is_what_is_stated(stated: dict[str, Any], holds: Holds) -> None:
    scenario = scenario_of(scenario_text("start: a"))
    made = HistoryBuilder().begin(scenario)
    check = SeekRefused(**{"consumer": "a", "topic": "orders", **stated})
    assert check.evaluate(RunView(scenario, made.events)).holds is Holds.UNKNOWN
    said = {"error": "MQClientException: Seek offset illegal", "exceptions": ["MQClientException"]}
    made.add("a", "seek-refused", topic="orders", to="100", **said)
    made.add("harness", "moment-observed", moment="end")
    assert check.evaluate(RunView(scenario, made.events)).holds is holds
