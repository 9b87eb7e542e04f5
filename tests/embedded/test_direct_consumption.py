"""A message that a tool hands to a consumer by its id, past the queues, reaches its listener."""

from __future__ import annotations

import pytest

from tests.embedded.small_scenario import RunScenario

pytestmark = pytest.mark.embedded
DIRECT = """\
name: direct
title: A message is handed to its consumer once more, by its id
topics: {orders: {queues: 1}}
consumers:
  a: {group: g, subscribe: {orders: '*'}}
steps:
  - start: a
  - settle: {ownership: g, within: 40s}
  - send: {topic: orders, tag: tagA, count: 1}
  - settle: {delivered: a, count: 1, within: 40s}
  - ask:
      as: again
      node: broker-a
      code: 309
      fields: {consumerGroup: <g>, clientId: <a>, msgId: <orders-1.offset>, brokerName: broker-a}
anomaly:
  - answer: {of: again, code: 0, has: CR_SUCCESS}
  - duplicated: {to: a, count: 1}
healthy:
  - duplicated: {to: a, count: 0}
"""


def test_a_message_comes_again_by_its_id(run_scenario: RunScenario) -> None:
    run = run_scenario(DIRECT)
    assert run["outcome"] == "reproduced", run["reason"]
