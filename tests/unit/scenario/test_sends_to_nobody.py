"""Sends that nothing acknowledges where they stand, and those that only look so."""

from __future__ import annotations

import pytest

from tests.unit.scenario.statements import doubts, mistakes, text_of

START = "  - start: [a, b]\n"
SEND = "  - send: {topic: orders, count: 4}\n"
NO_BROKER = (
    "broker-a was killed in line 11, so the messages are not acknowledged: no broker has it then. `restart` or "
    "`resume` it before, or let the send fail, `may_fail: true`"
)
NO_ROUTE = (
    "nameserver is paused since line 11, so the messages are not acknowledged: nobody tells its route. `restart` "
    "or `resume` it before, or let the send fail, `may_fail: true`"
)


def said(steps: str, cluster: str = "{}") -> list[str]:
    text = text_of("delivered: {to: g, count: 0}", steps=START + steps)
    text = text.replace("title: t\n", f"title: t\ncluster: {cluster}\n")
    assert mistakes(text) == []
    return [doubt for doubt in doubts(text) if "acknowledged" in doubt]


def test_without_the_only_broker() -> None:
    kill = "  - kill: broker-a\n"
    assert said(kill + SEND) == [NO_BROKER]
    assert said(f"{kill}  - repeat: {{times: 2, steps: [{SEND.strip()[2:]}]}}\n") == [NO_BROKER]
    assert said(f"{kill}  - restart: broker-a\n{SEND}") == []
    assert said(kill + SEND.replace("4}", "4, may_fail: true}")) == []
    assert said(kill + SEND.replace("4}", "4, oneway: true}")) == []
    assert said(f"  - parallel: [[kill: broker-a], [{SEND.strip()[2:]}]]\n") == []


def test_without_one_of_several() -> None:
    kill, two = "  - kill: broker-a\n", "{brokers: [broker-a, broker-b]}"
    assert said(kill + SEND, two) == []
    assert said(kill + SEND.replace("4}", "4, queue: 0, broker: broker-a}"), two) == [NO_BROKER]
    assert said(kill + SEND.replace("4}", "4, queue: 0, broker: broker-b}"), two) == []
    # A step may have made it a master.
    assert said(kill + SEND, "{slaves: broker-a}") == []


@pytest.mark.parametrize(
    ("before", "doubt"),
    [("", [NO_ROUTE]), ("  - send: {topic: bills, count: 4}\n", [NO_ROUTE]), (SEND, [])],
)
def test_without_a_name_server_a_producer_sends_what_it_has_sent_before(
    before: str, doubt: list[str]
) -> None:
    doubt = [item.replace("line 11", f"line {11 + bool(before)}") for item in doubt]
    assert said(f"{before}  - pause: nameserver\n{SEND}") == doubt


GROWN = "{brokers: [broker-a, broker-b]}"


@pytest.mark.parametrize(
    ("step", "fine"),
    [
        ("mqadmin: {as: x, command: updateTopic -b <broker-b> -t <orders>}", True),
        ("mqadmin: {as: x, command: updateTopic -c rocketchaos -t <orders>}", True),
        ("ask: {as: x, node: broker-b, code: 17, fields: {topic: <orders>}}", True),
        ("mqadmin: {as: x, command: updateTopic -b <broker-b> -t <bills>}", False),
        ("mqadmin: {as: x, command: topicRoute -b <broker-b> -t <orders>}", False),
        ("ask: {as: x, node: broker-a, code: 17, fields: {topic: <orders>}}", False),
    ],
)
def test_a_topic_may_grow_onto_a_broker(step: str, fine: bool) -> None:
    steps = f"{START}  - {step}\n  - send: {{topic: orders, count: 4, queue: 0, broker: broker-b}}\n"
    text = text_of("delivered: {to: g, count: 0}", steps=steps)
    text = text.replace("title: t\n", f"title: t\ncluster: {GROWN}\n")
    text = text.replace("orders: {queues: 4}", "orders: {queues: 4, on: broker-a}")
    refused = [item for item in mistakes(text) if item == "orders is on broker-a: not on broker-b"]
    assert refused == ([] if fine else ["orders is on broker-a: not on broker-b"])
