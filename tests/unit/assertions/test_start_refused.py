"""`start-refused`: what it answers, and where it can't."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from rocketchaos.assertions.delivered import Delivered
from rocketchaos.assertions.start_refused import StartRefused
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds
from rocketchaos.harness.reporting.parts.story import story
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
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


def test_a_producer_has_started_unless_its_refusal_is_reported() -> None:
    scenario = scenario_of(TEXT)
    check = StartRefused(producer="producer", because="illegal characters")
    made = HistoryBuilder().begin(scenario)
    made.add("harness", "moment-observed", moment="end")
    assert check.evaluate(RunView(scenario, made.events)).holds is Holds.NO
    refused = HistoryBuilder().begin(scenario)
    refused.add("producer", "producer-refused", error="MQClientException: illegal characters", code=None)
    refused.add("harness", "moment-observed", moment="end")
    assert check.evaluate(RunView(scenario, refused.events)).holds is Holds.YES
    other = StartRefused(producer="producer", because="no route")
    assert other.evaluate(RunView(scenario, refused.events)).holds is Holds.NO


@pytest.mark.parametrize("clients", [{}, {"consumer": "a", "producer": "producer"}], ids=str)
def test_it_is_about_one_client(clients: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="name one client"):
        StartRefused(**clients)


def test_a_producer_that_may_not_be_refused_ends_the_run() -> None:
    text = TEXT.replace("{consumer: a}", "{producer: producer}")
    with pytest.raises(InvalidScenario, match="producer has no `may_be_refused: true`"):
        parse_scenario(text, "s.yaml")
    parse_scenario(f"{text}producer: {{may_be_refused: true}}\n", "s.yaml")


@pytest.mark.parametrize(
    ("kinds", "count", "holds"),
    [
        (["consumer-refused"], 0, Holds.YES),
        (["consumer-refused"], 1, Holds.NO),
        ([], 0, Holds.UNKNOWN),
    ],
)
def test_who_is_refused_gets_nothing_and_the_story_shows_why(
    kinds: list[str], count: int, holds: Holds
) -> None:
    scenario = scenario_of(TEXT)
    made = HistoryBuilder().begin(scenario)
    for kind in kinds:
        made.add("a", kind, error="MQClientException: no filter by SQL92", code=1)
    made.send("orders", "tagA", 1, 0, 0)
    made.add("harness", "moment-observed", moment="end")
    answer = Delivered(to="a", count=count).evaluate(RunView(scenario, made.events))
    assert answer.holds is holds
    expected = "0 of 1 sent: the start of a was refused" if kinds else "a never started"
    assert answer.observed == expected
    told = [line.text for line in story(made.events)]
    assert ("the start of a is refused: MQClientException: no filter by SQL92" in told) is bool(kinds)
