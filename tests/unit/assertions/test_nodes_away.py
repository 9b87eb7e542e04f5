"""Which nodes are away: not the ones in whose place a settled election has put another."""

from __future__ import annotations

from rocketchaos.assertions.view import RunView
from tests.unit.history_builder import HistoryBuilder, scenario_of

TEXT = """\
name: example
title: an example
cluster: {slaves: broker-a, controller: true}
topics: {orders: {queues: 1}}
consumers:
  a: {group: g, subscribe: {orders: '*'}}
steps:
  - start: a
  - kill: broker-a
  - settle: {master: broker-a-slave}
anomaly: {delivered: {to: a, count: 1}}
healthy: {delivered: {to: a, count: 8}}
"""
SEEN = {"condition": "x", "took_ms": 1.0, "looks": 1, "seen": "x", "subject": "broker-a-slave"}


def test_a_master_in_whose_place_another_was_elected_is_not_away() -> None:
    scenario = scenario_of(TEXT)
    made = HistoryBuilder().begin(scenario)

    def away() -> list[str]:
        return RunView(scenario, made.events).nodes_away(99)

    made.add("harness", "fault-effective", fault="kill", target="broker-a")
    made.add("harness", "settled", condition_id="copied", **SEEN)
    assert away() == ["broker-a"]
    made.add("harness", "settled", condition_id="master", **SEEN)
    assert away() == []
    made.add("harness", "fault-effective", fault="kill", target="broker-a-slave")
    assert away() == ["broker-a-slave"]
