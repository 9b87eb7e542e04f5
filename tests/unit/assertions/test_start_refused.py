"""`start-refused`: what it answers, and where it can't."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.assertions.start_refused import StartRefused
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds
from tests.unit.history_builder import HistoryBuilder, scenario_of

TEXT = """\
name: x
title: x
topics: {orders: {queues: 1}}
consumers:
  a: {group: g, subscribe: {orders: {sql: a = 1}}}
steps: [{start: {consumers: a, may_be_refused: true}}]
anomaly: [{start-refused: a-field}]
healthy: [{delivered: {to: a, count: 1}}]
""".replace("a-field", "{consumer: a}")


@pytest.mark.parametrize(
    ("kinds", "because", "holds"),
    [
        ([], None, Holds.UNKNOWN),
        (["consumer-started"], None, Holds.NO),
        (["consumer-refused"], None, Holds.YES),
        (["consumer-refused"], "by SQL92", Holds.YES),
        (["consumer-refused"], "no route", Holds.NO),
        (["consumer-refused", "consumer-started"], None, Holds.NO),
        (["consumer-started", "consumer-refused"], None, Holds.YES),
    ],
)
def test_its_last_start_counts(kinds: list[str], because: str | None, holds: Holds) -> None:
    scenario = scenario_of(TEXT)
    made = HistoryBuilder().begin(scenario)
    for kind in kinds:
        made.add("a", kind, error="MQClientException: no filter by SQL92", code=1, client_id="a@t")
    check = StartRefused(consumer="a", because=because)
    assert check.evaluate(RunView(scenario, made.events)).holds is Holds.UNKNOWN  # not observed
    made.add("harness", "moment-observed", moment="end")
    assert check.evaluate(RunView(scenario, made.events)).holds is holds


@pytest.mark.parametrize(
    ("stated", "holds"),
    [
        ({"code": 1}, Holds.YES),
        ({"code": 26}, Holds.NO),
        ({"exception": "MQClientException"}, Holds.YES),
        ({"exception": "RuntimeException", "because": "by SQL92"}, Holds.YES),
        ({"exception": "RuntimeException", "because": "no route"}, Holds.NO),
        ({"exception": "MQBrokerException", "code": 1}, Holds.NO),
    ],
    ids=str,
)
def test_class_code_and_text_are_rocketmqs(stated: dict[str, Any], holds: Holds) -> None:
    scenario = scenario_of(TEXT)
    made = HistoryBuilder().begin(scenario)
    refusal = {"error": "MQClientException: no filter by SQL92", "code": 1}
    made.add("a", "consumer-refused", **refusal, exceptions=["MQClientException", "RuntimeException"])
    made.add("harness", "moment-observed", moment="end")
    assert StartRefused(consumer="a", **stated).evaluate(RunView(scenario, made.events)).holds is holds
