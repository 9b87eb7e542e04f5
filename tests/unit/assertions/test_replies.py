"""What producers get for their requests, and what becomes of listeners' replies."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.assertions.base import Check
from rocketchaos.assertions.replied import Replied
from rocketchaos.assertions.reply_refused import ReplyRefused
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from tests.unit.history_builder import HistoryBuilder

TEXT = """\
name: x
title: x
topics: {orders: {queues: 1}}
consumers:
  a: {group: g, subscribe: {orders: '*'}, behaviour: {reply: true}}
steps: [{start: a}, {send: {topic: orders, count: 4, request: 1s}}]
anomaly: [{replied: {topic: orders, count: 4}}]
healthy: [{replied: {topic: orders, count: 0}}]
"""
LATE = {"error": "wait reply message timeout", "code": 10006, "exceptions": ["RequestTimeoutException"]}


def judged(check: Check, *events: tuple[str, str, dict[str, Any]]) -> Holds:
    scenario = parse_scenario(TEXT, "x.yaml")
    made = HistoryBuilder().begin(scenario)
    for node, kind, data in events:
        made.add(node, kind, **data)
    made.add("harness", "moment-observed", moment="end")
    return check.evaluate(RunView(scenario, made.events)).holds


def answered(number: int, got: str, **further: Any) -> tuple[str, str, dict[str, Any]]:
    return (
        "producer",
        "request-answered",
        {"key": f"orders-{number}", "topic": "orders", "got": got, **further},
    )


@pytest.mark.parametrize(
    ("stated", "holds"),
    [
        ({"count": 2}, Holds.YES),
        ({"count": 4}, Holds.NO),
        ({"count": 1, "got": "request"}, Holds.YES),
        ({"count": 0, "got": "nothing"}, Holds.YES),
        ({"count": 1, "got": "exception", "code": 10006, "because": "timeout"}, Holds.YES),
        ({"at_least": 1, "got": "exception", "exception": "MQBrokerException"}, Holds.NO),
    ],
    ids=str,
)
def test_what_a_producer_gets_is_counted(stated: dict[str, Any], holds: Holds) -> None:
    events = [
        answered(1, "reply"),
        answered(2, "request"),
        answered(2, "reply"),
        answered(3, "exception", **LATE),
    ]
    assert judged(Replied(topic="orders", **stated), *events) is holds


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({"at_least": 2}, "at least 2 replies"),
        ({"count": 1, "got": "request"}, "1 request"),
        ({"count": 2, "got": "nothing"}, "2 answers without a message"),
        ({"count": 2, "got": "exception"}, "2 exceptions"),
        ({"count": 1, "got": "exception", "code": 10006}, "1 exception with code 10006"),
    ],
    ids=str,
)
def test_what_is_expected_and_seen_is_in_plain_words(stated: dict[str, Any], expected: str) -> None:
    scenario = parse_scenario(TEXT, "x.yaml")
    made = HistoryBuilder().begin(scenario)
    for node, kind, data in [answered(1, "reply"), answered(2, "reply"), answered(3, "nothing")]:
        made.add(node, kind, **data)
    made.add("harness", "moment-observed", moment="end")
    answer = Replied(topic="orders", **stated).evaluate(RunView(scenario, made.events))
    assert answer.expected == expected
    assert answer.observed == "1 answer without a message, 2 replies"


def test_without_a_request_nothing_is_known() -> None:
    assert judged(Replied(topic="orders", count=0)) is Holds.UNKNOWN
    asked = {"topic": "orders", "key": "orders-1", "tag": None, "how": "request"}
    assert judged(Replied(topic="orders", count=0), ("producer", "send-accepted", asked)) is Holds.YES


def test_a_reply_has_no_code() -> None:
    with pytest.raises(InvalidScenario, match="go with `got: exception`"):
        parse_scenario(TEXT.replace("count: 0", "count: 0, code: 10006"), "x.yaml")


@pytest.mark.parametrize(
    ("stated", "holds"),
    [
        ({"count": 1}, Holds.YES),
        ({"count": 0}, Holds.NO),
        ({"count": 1, "because": "push reply message"}, Holds.YES),
        ({"at_least": 1, "code": 10007}, Holds.NO),
    ],
    ids=str,
)
def test_replies_that_did_not_reach_the_producer_are_counted(stated: dict[str, Any], holds: Holds) -> None:
    refusal = {"error": "push reply message to p fail.", "code": 1, "exceptions": ["MQBrokerException"]}
    check = ReplyRefused(to="g", **stated)
    assert judged(check) is Holds.UNKNOWN
    sent = ("a", "replied", {"key": "orders-1", "status": "SEND_OK"})
    assert judged(check, sent, ("a", "reply-refused", {"key": "orders-2", **refusal})) is holds


@pytest.mark.parametrize("api", ["lite-pull", "pull"])
def test_what_has_no_listener_can_not_reply(api: str) -> None:
    with pytest.raises(InvalidScenario, match=r"behaviour: \{reply: true\}"):
        parse_scenario(TEXT.replace("a: {group: g,", f"a: {{group: g, api: {api},"), "x.yaml")
