"""Lines that a program prints, and the messages that they name."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.harness.core.events.messages import Consumed, LineOfNoMessage, Received, SendInvoked
from rocketchaos.harness.core.history import History
from rocketchaos.harness.engine.printed_events import PrintedEvents
from tests.unit.history_builder import scenario_of

TEXT = """\
name: own
title: a prints what it handles
topics: {orders: {queues: 1}, refunds: {queues: 1}}
consumers:
  a: {group: g, subscribe: {orders: tagA}, app: {command: [./a], sees: {log: '(?P<key>.)'}}}
steps: [{start: a}]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""


@pytest.fixture
def printed() -> PrintedEvents:
    history = History("run")
    for topic, number, keys in (("orders", 1, ("A17", "both")), ("orders", 2, ("both",)), ("refunds", 1, ())):
        history.append("producer", SendInvoked(topic=topic, key=f"{topic}-{number}", tag="tagA", keys=keys))
    return PrintedEvents(scenario_of(TEXT), history)


@pytest.mark.parametrize(
    ("told", "key"),
    [
        ({"key": "orders-2"}, "orders-2"),
        ({"key": "A17"}, "orders-1"),
        ({"number": "2"}, "orders-2"),
        ({"number": "1", "topic": "refunds"}, "refunds-1"),
    ],
)
def test_a_line_names_its_message(printed: PrintedEvents, told: dict[str, Any], key: str) -> None:
    received, consumed = printed.of("a", {"line": "the line", **told})
    assert isinstance(received, Received)
    assert (received.key, received.tag, received.line) == (key, "tagA", "the line")
    assert (received.queue, received.offset, received.reconsume_times) == ("", None, None)
    assert consumed == Consumed(key=key, status="PRINTED")


def test_an_entry_may_be_about_the_call_or_the_answer_only(printed: PrintedEvents) -> None:
    (received,) = printed.of("a", {"line": "l", "key": "orders-2", "only": "received"})
    assert isinstance(received, Received)
    (consumed,) = printed.of("a", {"line": "l", "key": "orders-2", "only": "consumed", "status": "SUCCESS"})
    assert consumed == Consumed(key="orders-2", status="SUCCESS")


def test_a_line_may_tell_more(printed: PrintedEvents) -> None:
    told = {"key": "orders-2", "tag": "b", "queue": "broker-a:3", "offset": "7", "status": "RECONSUME_LATER"}
    received, consumed = printed.of("a", {"line": "l", **told})
    assert isinstance(received, Received)
    assert (received.tag, received.queue, received.offset) == ("b", "broker-a:3", 7)
    assert consumed == Consumed(key="orders-2", status="RECONSUME_LATER")


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"key": "b'orders-1'"}, "no message has the key \"b'orders-1'\""),
        ({"key": "both"}, "2 messages have the key 'both'"),
        ({"number": "3"}, "orders has no message of the number '3'"),
        ({"number": "x"}, "orders has no message of the number 'x'"),
        ({"number": "1", "topic": "bills"}, "bills has no message of the number '1'"),
        ({"topic": "bills"}, "bills has no message of the number None"),
    ],
)
def test_a_line_of_no_message_is_kept_with_the_reason(
    printed: PrintedEvents, told: dict[str, Any], reason: str
) -> None:
    (found,) = printed.of("a", {"line": "l", **told})
    assert found == LineOfNoMessage(line="l", reason=reason)


@pytest.mark.parametrize(
    ("printed_status", "status"), [("SUCCESS", "SUCCESS"), ("FAILURE", "RECONSUME_LATER")]
)
def test_a_grpc_listener_answers_in_words_of_its_own(
    printed: PrintedEvents, printed_status: str, status: str
) -> None:
    *_, consumed = printed.of("a", {"line": "l", "key": "orders-2", "status": printed_status})
    assert consumed == Consumed(key="orders-2", status=status)


@pytest.mark.parametrize("status", ["FAILED", "OK", "reconsume_later", ""])
def test_a_status_of_its_own_words_shows_no_success(printed: PrintedEvents, status: str) -> None:
    (found,) = printed.of("a", {"line": "l", "key": "orders-2", "status": status})
    assert isinstance(found, LineOfNoMessage)
    assert f"the group `status` is {status!r}, and none of CONSUME_SUCCESS, RECONSUME_LATER" in found.reason


def test_only_the_first_of_such_lines_are_kept(printed: PrintedEvents) -> None:
    found = [list(printed.of("a", {"line": "l", "key": "x"})) for _ in range(150)]
    assert sum(map(len, found)) == 100
