"""Scenarios with a given check in their lists, and what is said of it."""

from __future__ import annotations

from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.scenario.load import read_yaml
from rocketchaos.harness.scenario.unreachable import doubtful

STEPS = """\
  - start: [a, b]
  - send: {topic: orders, tags: [tagA, tagB], count: 8, per_queue: 2}
"""


def text_of(
    anomaly: str,
    healthy: str = "log: {node: broker-a, matches: x, count: 0}",
    *,
    steps: str = STEPS,
    expected: str = "reproduced",
) -> str:
    return (
        "name: x\ntitle: t\ntopics: {orders: {queues: 4}, bills: {queues: 1}, "
        "new: {queues: 1, by_sending: true}}\n"
        "consumers:\n  a: {group: g, subscribe: {orders: tagA}}\n  b: {group: g, subscribe: {orders: tagB}}\n"
        "  one: {group: h, subscribe: {orders: '*'}, model: broadcasting}\n"
        f"steps:\n{steps}anomaly:\n  - {anomaly}\nhealthy:\n  - {healthy}\nexpected: {expected}\n"
    )


def mistakes(text: str) -> list[str]:
    try:
        parse_scenario(text, "x.yaml")
    except InvalidScenario as invalid:
        return [diagnostic.message for diagnostic in invalid.diagnostics]
    return []


def doubts(text: str) -> list[str]:
    document, _ = read_yaml(text, "x.yaml")
    return [item.message for item in doubtful(document, parse_scenario(text, "x.yaml"))]
