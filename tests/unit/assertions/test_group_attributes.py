"""The check `subscription` on what brokers hold of the group as such: consumeFromWhere and messageModel."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from rocketchaos.assertions import CHECKS
from rocketchaos.assertions.base import Answer
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds
from tests.unit.history_builder import HistoryBuilder, scenario_of

SCENARIO = scenario_of("""\
name: attributes
title: what the group is
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: tagA}}
steps: [{start: a}]
anomaly: [{delivered: {to: g, count: 1}}]
healthy: [{delivered: {to: g, count: 0}}]
""")
YES, NO, UNKNOWN = Holds.YES, Holds.NO, Holds.UNKNOWN


def observed(*without: str, **changes: Any) -> HistoryBuilder:
    """One broker's answer: tagA, one client, CONSUME_FROM_FIRST_OFFSET, CLUSTERING."""
    made = HistoryBuilder().begin(SCENARIO)
    made.stored("g", {"orders": "tagA"}, ["a"], moment="end")
    data = made.events[-1].data
    data.update(changes)
    for key in without:
        del data[key]
    made.add("harness", "moment-observed", moment="end")
    return made


def answer(made: HistoryBuilder, **fields: Any) -> Answer:
    check = CHECKS["subscription"].model_validate({"group": "g", "topic": "orders", **fields})
    return check.evaluate(RunView(SCENARIO, made.events))


@pytest.mark.parametrize(
    ("fields", "holds"),
    [
        ({"consume_from": "first-offset"}, YES),
        ({"consume_from": "last-offset"}, NO),
        ({"consume_from": "timestamp"}, NO),
        ({"model": "clustering"}, YES),
        ({"model": "broadcasting"}, NO),
        ({"consume_from": "first-offset", "model": "clustering", "expression": "tagA", "clients": 1}, YES),
        ({"consume_from": "first-offset", "model": "broadcasting"}, NO),
        ({"consume_from": "first-offset", "expression": "tagB"}, NO),
    ],
)
def test_what_the_broker_holds_of_the_group(fields: dict[str, Any], holds: Holds) -> None:
    assert answer(observed(), **fields).holds is holds


@pytest.mark.parametrize(
    ("broker", "expression", "holds"),
    [
        ("broker-a", "tagA", YES),
        ("broker-a", "tagB", NO),
        ("broker-b", "tagB", YES),
        ("broker-b", "tagA", NO),
        (None, "tagA", NO),
        ("broker-c", "tagA", UNKNOWN),
    ],
)
def test_a_named_broker_alone_must_hold_it(broker: str | None, expression: str, holds: Holds) -> None:
    made = observed()
    made.stored("g", {"orders": "tagB"}, ["a"], moment="end")
    made.events[-1].data["broker"] = "broker-b"
    assert answer(made, broker=broker, expression=expression).holds is holds


def test_each_broker_must_hold_it() -> None:
    made = observed()
    made.stored("g", {"orders": "tagA"}, ["a"], moment="end")
    made.events[-1].data["message_model"] = "BROADCASTING"
    assert answer(made, model="clustering").holds is NO
    assert answer(made, consume_from="first-offset").holds is YES


def test_it_tells_what_was_expected_and_what_was_seen() -> None:
    found = answer(observed(), consume_from="last-offset", model="clustering")
    assert found.expected == "CONSUME_FROM_LAST_OFFSET, CLUSTERING"
    assert "1 clients, CONSUME_FROM_FIRST_OFFSET, CLUSTERING" in found.observed


@pytest.mark.parametrize("key", ["consume_from_where", "message_model"])
def test_a_run_that_did_not_record_it_leaves_it_open(key: str) -> None:
    fields = {"consume_from": "first-offset", "model": "clustering"}
    found = answer(observed(key), **fields)
    assert found.holds is UNKNOWN
    assert f"was not asked for {key}" in found.observed
    assert answer(observed(key), expression="tagA", clients=1).holds is YES
    assert answer(observed(key), expression="tagB", **fields).holds is NO


def test_a_group_that_nobody_is_in_has_none() -> None:
    made = observed(clients=[], subscriptions={}, consume_from_where=None, message_model=None)
    found = answer(made, model="clustering")
    assert found.holds is NO
    assert "no message_model" in found.observed


@pytest.mark.parametrize("fields", [{}, {"model": "both"}, {"consume_from": "first"}])
def test_it_must_say_something_that_rocketmq_knows(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CHECKS["subscription"].model_validate({"group": "g", "topic": "orders", **fields})


@pytest.mark.parametrize(("codes", "holds"), [([3552231], YES), ([0], NO), ([], NO)])
def test_the_hash_codes_by_which_a_broker_filters(codes: list[int], holds: Holds) -> None:
    check = CHECKS["subscription"].model_validate({"group": "g", "topic": "orders", "codes": codes})
    answer = check.evaluate(RunView(SCENARIO, observed().events))
    assert answer.holds is holds
    assert "with codes [3552231]" in answer.observed
