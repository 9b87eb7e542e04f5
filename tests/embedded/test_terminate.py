"""SIGTERM of a member and of the producer, on a real RocketMQ: both leave in good order, and come back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.embedded.small_scenario import RunScenario, events_of, held

pytestmark = pytest.mark.embedded

SCENARIO = """\
name: terminated
title: a member and the producer get SIGTERM
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: '*'}}
  b: {group: g, subscribe: {orders: '*'}}
steps:
  - start: [a, b]
  - settle: {ownership: g, within: 40s}
  - send: {topic: orders, tag: tagA, count: 16, per_queue: 4}
  - settle: {delivered: g, count: 16, within: 20s}
  - terminate: b
  - settle: {ownership: g, within: 10s}
  - settle: {offsets: g, topic: orders, lag: 0, within: 20s}
  - observe: b-is-gone
  - parallel:
      - send: {topic: orders, tag: tagA, count: 60, every: 30ms, may_fail: true}
      - - settle: {delivered: g, count: 21, within: 20s}
        - terminate: producer
        - wait: {duration: 300ms, because: so long nothing is sent}
        - restart: producer
  - send: {topic: orders, tag: tagA, count: 4, per_queue: 1}
  - settle: {offsets: g, topic: orders, lag: 0, within: 20s}
  - start: b
  - settle: {ownership: g, within: 40s}
  - terminate: b
  - restart: b
  - settle: {sealed: g, within: 60s}
anomaly:
  - duplicated: {to: g, at_least: 1}
healthy:
  - duplicated: {to: g, count: 0}
  - undelivered: {group: g, count: 0}
also:
  - ownership: {of: a, topic: orders, count: 4, at: b-is-gone}
  - dropped: {consumer: b, at_most: 2s, at: b-is-gone}
expected: not-reproduced
"""


@pytest.fixture(scope="module")
def run(run_scenario: RunScenario) -> dict[str, Any]:
    return run_scenario(SCENARIO)


@pytest.fixture(scope="module")
def events(run: dict[str, Any]) -> list[dict[str, Any]]:
    return events_of(run)


def test_nothing_is_lost_and_nothing_comes_twice(run: dict[str, Any]) -> None:
    assert run["outcome"] == "not-reproduced"
    assert held(run, "healthy") == [True, True]
    assert held(run, "also") == [True, True]


def test_each_is_written_down_as_a_fault_and_the_member_as_one_that_stops(
    events: list[dict[str, Any]],
) -> None:
    found = [
        (event["kind"], event["data"].get("target", event["node"]))
        for event in events
        if event["kind"].startswith("consumer-stop") or event["data"].get("fault") == "terminate"
    ]
    of_b = [
        ("fault-injected", "b"),
        ("consumer-stopping", "b"),
        ("consumer-stopped", "b"),
        ("fault-effective", "b"),
    ]
    assert found == [*of_b, ("fault-injected", "producer"), ("fault-effective", "producer"), *of_b]
    assert not [event for event in events if event["kind"] in ("worker-died", "trouble")]


def test_the_producer_sends_again_from_another_process_and_loses_nothing_that_was_acknowledged(
    events: list[dict[str, Any]],
) -> None:
    (gone,) = (
        event["n"]
        for event in events
        if (event["kind"], event["data"].get("target")) == ("fault-effective", "producer")
        and event["data"]["fault"] == "terminate"
    )
    (back,) = (
        event["n"]
        for event in events
        if event["kind"] == "fault-effective" and event["data"]["fault"] == "restart"
    )
    failed = {event["data"]["key"] for event in events if event["kind"] == "send-failed"}
    meanwhile = {
        event["data"]["key"]
        for event in events
        if event["kind"] == "send-invoked" and gone < event["n"] < back
    }
    sent = {event["data"]["key"]: event["n"] for event in events if event["kind"] == "sent"}
    assert meanwhile
    assert meanwhile - failed <= {key for key, number in sent.items() if number > back}
    assert failed
    assert max(sent.values()) > back
    assert len(failed) + len(sent) == 80
