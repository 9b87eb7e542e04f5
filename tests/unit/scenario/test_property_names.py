"""The names of properties that a `send` gives its messages: any that RocketMQ takes."""

from __future__ import annotations

import pytest

from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.steps.send import Send

TEXT = """\
name: named
title: properties with names of all kinds
topics: {orders: {queues: 1}}
groups: g
steps:
  - send: {topic: orders, count: 1, may_fail: true, properties: {NAME: "1"}}
anomaly: {send-refused: {topic: orders, count: 1}}
healthy: {send-refused: {topic: orders, count: 0}}
"""


@pytest.mark.parametrize("name", ["a", "a/b/c", "X-B3-TraceId", "1st", '"my name"', "地区", "_b.c"])
def test_production_has_other_names_than_letters_and_digits(name: str) -> None:
    (step,) = parse_scenario(TEXT.replace("NAME", name), "named.scenario.yaml").steps
    assert isinstance(step, Send)
    assert step.properties == {name.strip('"'): "1"}


@pytest.mark.parametrize("name", ['""', '"a\\x01b"', '"a\\x02b"', "x" * 128])
def test_the_separators_of_properties_are_refused(name: str) -> None:
    with pytest.raises(
        InvalidScenario, match="a name is made of 1 to 127 characters, none of them a control"
    ):
        parse_scenario(TEXT.replace("NAME", name), "named.scenario.yaml")
