"""A placeholder that an application has left in a tag is text, as it is for RocketMQ; a variable stays one."""

from __future__ import annotations

import pytest

from rocketchaos.harness.language.words import of_a_variable
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.diagnostics import InvalidScenario

TEXT = """\
name: s
title: a placeholder in a tag
topics: {orders: {queues: 1}}
consumers:
  a: {group: g, subscribe: {orders: '${demo.tag}'}}
steps:
  - start: a
  - send: {topic: orders, tag: '${demo.tag}', count: 1}
  - settle: {delivered: a}
anomaly:
  - subscription: {group: g, topic: orders, expression: 'TAG'}
healthy:
  - delivered: {to: a, tag: 'TAG', count: 0}
"""


def test_a_placeholder_is_a_tag_like_any_other() -> None:
    assert [of_a_variable(tag) for tag in ("$holder.tag", "${demo.tag}", "tagA")] == [True, False, False]
    scenario = parse_scenario(TEXT.replace("TAG", "${demo.tag}"), "s.yaml")
    assert scenario.consumers["a"].subscribe == {"orders": "${demo.tag}"}


def test_a_variable_that_nobody_binds_is_still_a_mistake() -> None:
    with pytest.raises(InvalidScenario, match=r"there is no variable `\$holder`"):
        parse_scenario(TEXT.replace("TAG", "$holder.tag"), "s.yaml")
