"""Producers of one application: `beside`."""

from __future__ import annotations

import pytest

from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.scenario.model import Scenario

TEXT = """\
name: two
title: two producers of one application
topics: {orders: {queues: 4}}
producer: {group: shop}
producers:
  again: {group: shop, beside: producer, may_be_refused: true}
  third: {beside: again}
  alone: {}
groups: g
steps:
  - send: {topic: orders, count: 4}
  - send: {producer: again, topic: orders, count: 4, may_fail: true}
anomaly: {start-refused: {producer: again}}
healthy: {send-refused: {topic: orders, count: 0}}
"""


def parsed(text: str = TEXT) -> Scenario:
    return parse_scenario(text, "two.scenario.yaml")


def test_producers_beside_one_another_share_the_process_of_the_first() -> None:
    assert parsed().leaders == {"producer": "producer", "again": "producer", "third": "producer"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "alone: {}",
            "alone: {client: go, client_id: p@1}",
            "only RocketMQ's Java producer can have a `client_id`",
        ),
        ("{beside: again}", "{beside: again, client_id: p@1}", "leave out `client_id` or `beside`"),
        ("{beside: again}", "{beside: alone}", "third is `beside` alone: no producer above it has that name"),
        (
            "{group: shop}",
            "{beside: again}",
            "producer is `beside` again: no producer above it has that name",
        ),
        (
            "{beside: again}",
            "{client: go, beside: again}",
            "third is `beside` again, which is another client",
        ),
        (
            "anomaly:",
            "  - kill: producer\nanomaly:",
            "producer, third live in one process: name them all, `kill: [producer, third]`",
        ),
    ],
)
def test_what_cannot_be(old: str, new: str, said: str) -> None:
    with pytest.raises(InvalidScenario, match=said.replace("[", r"\[")):
        parsed(TEXT.replace(old, new, 1))


def test_one_that_may_be_refused_needs_no_naming() -> None:
    both = TEXT.replace("anomaly:", "  - kill: [producer, third]\nanomaly:", 1)
    assert "again" in parsed(both).leaders
