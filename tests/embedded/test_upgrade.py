"""A broker gets another version within a run, and keeps its store and that version."""

from __future__ import annotations

import pytest

from tests.embedded.small_scenario import RunScenario

pytestmark = [pytest.mark.embedded, pytest.mark.extended, pytest.mark.timeout(300)]

TEXT = """\
name: newer
title: a broker is upgraded, and killed after that
topics: {orders: {queues: 4}}
consumers: {a: {group: g, subscribe: {orders: '*'}}}
steps:
  - send: {topic: orders, count: 4, per_queue: 1}
  - upgrade: {broker: broker-a, to: 5.5.0}
  - kill: broker-a
  - restart: broker-a
  - start: a
  - settle: {ownership: g, within: 60s}
  - send: {topic: orders, count: 4, per_queue: 1}
  - settle: {delivered: g, count: 8, within: 60s}
  - ask: {as: runtime, node: broker-a, code: 28, within: 30s}
anomaly:
  - delivered: {to: g, count: 8}
  - answer: {of: runtime, has: '"brokerVersionDesc":"V5_5_0"'}
healthy:
  - answer: {of: runtime, has: '"brokerVersionDesc":"V4_9_4"'}
"""


def test_a_broker_keeps_its_messages_and_its_new_version(run_scenario: RunScenario) -> None:
    assert run_scenario(TEXT)["outcome"] == "reproduced"
