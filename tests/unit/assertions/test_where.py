"""Checks that speak of some clients and versions alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rocketchaos.assertions.judge import judge
from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from tests.unit.history_builder import EIGHT_MESSAGES, eight_messages, scenario_of

ALL = """\
anomaly:
  - delivered: {to: b, count: 4}
  - undelivered: {count: 4, because: filtered-by-client, where: {client: java}}
  - undelivered: {count: 4, because: filtered-by-broker, where: {client: [python, grpc], rocketmq: ">=5.0"}}
healthy:
  - delivered: {to: g, count: 8, where: {rocketmq: "<5"}}
"""
NARROW = """\
anomaly:
  - delivered: {to: b, count: 4, where: {client: grpc}}
healthy:
  - delivered: {to: b, count: 4, where: {client: java+python}}
"""


def judged(checks: str, **cell: Any) -> Any:
    """The outcome of the eight messages in a cell; without one, as older histories have it."""
    head = EIGHT_MESSAGES.partition("anomaly:")[0]
    _, events = eight_messages()
    events[0] = replace(events[0], data={**events[0].data, **cell})
    return judge(scenario_of(head + checks), events)


@pytest.mark.parametrize(
    ("cell", "kind", "findings"),
    [
        ({}, OutcomeKind.REPRODUCED, 2),
        ({"client": "java", "rocketmq": "4.9.4"}, OutcomeKind.REPRODUCED, 3),
        ({"client": "java", "rocketmq": "5.5.0"}, OutcomeKind.REPRODUCED, 2),
        ({"client": "python", "rocketmq": "5.5.0"}, OutcomeKind.INCONCLUSIVE, 2),
        ({"client": "python", "rocketmq": "4.9.4"}, OutcomeKind.REPRODUCED, 2),
    ],
)
def test_what_speaks_of_others_is_left_out(cell: dict[str, Any], kind: OutcomeKind, findings: int) -> None:
    outcome = judged(ALL, **cell)
    assert (outcome.kind, len(outcome.findings)) == (kind, findings)


def test_a_list_that_says_nothing_of_a_run_never_holds() -> None:
    outcome = judged(NARROW, client="java", rocketmq="4.9.4")
    assert outcome.kind is OutcomeKind.INCONCLUSIVE
    assert "no check is about these clients and this version" in outcome.reason
    assert judged(NARROW, client="grpc", rocketmq="5.5.0").kind is OutcomeKind.REPRODUCED


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("{client: jaba}", "`jaba` is no client"),
        ("{client: python+java}", "is no client"),
        ("{rocketmq: five}", "no range of versions"),
        ("{}", "say `client`, `rocketmq`, or both"),
    ],
)
def test_what_nobody_can_mean_is_refused(where: str, said: str) -> None:
    text = EIGHT_MESSAGES.replace("claim: B01}", f"where: {where}}}", 1)
    with pytest.raises(InvalidScenario, match=said.replace("{", r"\{")):
        parse_scenario(text, "x.yaml")
