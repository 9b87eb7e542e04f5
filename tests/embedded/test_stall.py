"""A member, the producer and a broker are starved of CPU on a real RocketMQ: all is late, nothing is lost."""

from __future__ import annotations

from typing import Any

import psutil
import pytest

from tests.embedded.small_scenario import RunScenario, events_of, held

pytestmark = [pytest.mark.embedded, pytest.mark.nightly]

SCENARIO = """\
name: starved
title: a member, the producer and the broker are starved, one after the other; a member is killed meanwhile
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: '*'}}
  b: {group: g, subscribe: {orders: '*'}}
steps:
  - start: [a, b]
  - settle: {ownership: g, within: 40s}
  - send: {topic: orders, tag: before, count: 8, per_queue: 2}
  - settle: {offsets: g, topic: orders, lag: 0, within: 20s}
  - stall: {targets: [b, producer], stopped: 300ms, running: 50ms}
  - send: {topic: orders, tag: members, count: 8, per_queue: 2}
  - settle: {delivered: g, count: 16, within: 30s}
  - resume: [b, producer]
  - stall: {targets: broker-a, stopped: 300ms, running: 50ms}
  - send: {topic: orders, tag: broker, count: 8, per_queue: 2}
  - settle: {delivered: g, count: 24, within: 30s}
  - observe: broker-is-starved
  - resume: broker-a
  - stall: b
  - kill: b
  - start: b
  - settle: {ownership: g, within: 40s}
  - stall: b
  - resume: b
  - send: {topic: orders, tag: after, count: 8, per_queue: 2}
  - settle: {sealed: g, within: 60s}
anomaly:
  - undelivered: {group: g, at_least: 1}
healthy:
  - undelivered: {group: g, count: 0}
also:
  - ownership: {of: b, topic: orders, count: 2, at: broker-is-starved}
  - subscription: {group: g, topic: orders, expression: '*', clients: 2, at: broker-is-starved}
expected: not-reproduced
"""


@pytest.fixture(scope="module")
def run(run_scenario: RunScenario) -> dict[str, Any]:
    return run_scenario(SCENARIO)


@pytest.fixture(scope="module")
def events(run: dict[str, Any]) -> list[dict[str, Any]]:
    return events_of(run)


def test_nothing_is_lost_and_nobody_loses_queues(run: dict[str, Any]) -> None:
    assert held(run, "healthy") == [True]
    assert held(run, "also") == [True, True]


def test_each_stall_is_proven_and_healed(events: list[dict[str, Any]]) -> None:
    found = [
        (event["kind"], event["data"]["target"])
        for event in events
        if event["kind"] in ("fault-effective", "fault-healed") and event["data"]["fault"] == "stall"
    ]
    effective, healed = "fault-effective", "fault-healed"
    assert found == [
        *[(effective, "b"), (effective, "producer"), (healed, "b"), (healed, "producer")],
        *[(effective, "broker-a"), (healed, "broker-a"), (effective, "b")],
        # It was killed meanwhile, which shows when its next process is to be stalled.
        *[(healed, "b"), (effective, "b"), (healed, "b")],
    ]
    proofs = [event["data"]["proof"] for event in events if event["kind"] == effective]
    assert sum("stands still in" in proof and "looks" in proof for proof in proofs) == 5


def test_no_process_is_left_that_makes_others_stand_still(events: list[dict[str, Any]]) -> None:
    # Others test on this machine too: of the processes of this run.
    proofs = [event["data"]["proof"] for event in events if event["kind"] == "fault-effective"]
    stalled = {proof.split()[1] for proof in proofs if "stands still" in proof}
    commands = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    making = [command for command in commands if any("pidfd_send_signal" in part for part in command)]
    assert len(stalled) == 4  # b is two processes
    assert not [command for command in making if stalled & set(command)]
