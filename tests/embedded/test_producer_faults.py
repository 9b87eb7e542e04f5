"""What sends is killed, comes back and stands still, on a real RocketMQ: nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest

from tests.embedded.small_scenario import RunScenario, events_of, held

pytestmark = pytest.mark.embedded

SCENARIO = """\
name: producer-faults
title: what sends is killed, and stands still
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: tagA}}
steps:
  - start: a
  - settle: {subscription: g, topic: orders, within: 60s}
  - parallel:
      - send: {topic: orders, tag: tagA, count: 60, every: 30ms, may_fail: true}
      - - settle: {delivered: g, count: 5, within: 20s}
        - kill: producer
        - wait: {duration: 300ms, because: so long nothing is sent}
        - restart: producer
  - send: {topic: orders, tag: tagA, count: 4, per_queue: 1}
  - parallel:
      - send: {topic: orders, tag: tagA, count: 20, every: 30ms}
      - - wait: {duration: 200ms, because: how long it sends}
        - pause: producer
        - wait: {duration: 700ms, because: how long it stands still}
        - resume: producer
  - settle: {sealed: g, within: 60s}
anomaly:
  - undelivered: {group: g, at_least: 1}
healthy:
  - undelivered: {group: g, count: 0}
expected: not-reproduced
"""


@pytest.fixture(scope="module")
def run(run_scenario: RunScenario) -> dict[str, Any]:
    return run_scenario(SCENARIO)


@pytest.fixture(scope="module")
def events(run: dict[str, Any]) -> list[dict[str, Any]]:
    return events_of(run)


def test_all_that_was_acknowledged_arrives(run: dict[str, Any]) -> None:
    assert run["outcome"] == "not-reproduced"
    assert held(run, "healthy") == [True]


def faults(events: list[dict[str, Any]], kind: str) -> dict[str, int]:
    """`n` of the event of each fault."""
    return {event["data"]["fault"]: event["n"] for event in events if event["kind"] == kind}


def keys(events: list[dict[str, Any]], kind: str, after: int = 0, before: int = 10**6) -> set[str]:
    """Of the messages of events of a kind between two others."""
    return {event["data"]["key"] for event in events if event["kind"] == kind and after < event["n"] < before}


def test_what_is_sent_while_it_is_away_fails_and_is_written_down(events: list[dict[str, Any]]) -> None:
    begun, effective = faults(events, "fault-injected"), faults(events, "fault-effective")
    meanwhile = keys(events, "send-invoked", effective["kill"], begun["restart"])
    sent, failed = keys(events, "sent"), keys(events, "send-failed")
    assert meanwhile
    assert meanwhile <= failed
    assert failed == keys(events, "send-failed", begun["kill"])
    assert keys(events, "sent", effective["restart"])
    assert not sent & failed
    assert len(sent | failed) == len(keys(events, "send-invoked")) == 84


def test_another_process_sends_after_the_kill(events: list[dict[str, Any]]) -> None:
    (proof,) = (
        event["data"]["proof"]
        for event in events
        if event["kind"] == "fault-effective" and event["data"]["fault"] == "restart"
    )
    now, before = proof.removeprefix("producer is process ").split(", after process ")
    assert int(now) != int(before)


def test_what_it_was_sending_when_it_stood_still_is_acknowledged_later(events: list[dict[str, Any]]) -> None:
    effective = faults(events, "fault-effective")["pause"]
    (goes_on,) = (
        event["n"]
        for event in events
        if event["kind"] == "step-started" and event["data"]["step"] == "resume"
    )
    meanwhile = keys(events, "send-invoked", effective, goes_on)
    assert not meanwhile & keys(events, "sent", before=goes_on)
    assert meanwhile <= keys(events, "sent", after=goes_on)
    assert not keys(events, "send-failed", after=effective)
