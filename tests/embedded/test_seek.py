"""A lite pull consumer moves its own position, and its client refuses where it can't."""

from __future__ import annotations

import pytest

from tests.embedded.small_scenario import RunScenario, held

pytestmark = pytest.mark.embedded
SEEKS = """\
name: seeks
title: A lite pull consumer seeks to an offset, and to none that the queue has, and in a queue that it hasn't
topics: {orders: {queues: 1}}
consumers:
  a: {group: g, api: lite-pull, subscribe: {orders: '*'}}
steps:
  - start: a
  - settle: {ownership: g, within: 40s}
  - send: {topic: orders, tag: tagA, count: 4}
  - settle: {delivered: a, topic: orders, count: 4, within: 60s}
  - seek: {consumer: a, topic: orders, to: 3}
  - send: {topic: orders, tag: tagA, count: 1}
  - settle: {delivered: a, topic: orders, count: 5, within: 60s}
  - seek: {consumer: a, topic: orders, queue: 0, to: 100, may_be_refused: true}
  - seek: {consumer: a, topic: orders, queue: 9, to: begin, may_be_refused: true}
  - seek: {consumer: a, topic: orders, to: end}
  - send: {topic: orders, tag: tagA, count: 1}
  - settle: {delivered: a, topic: orders, count: 6, within: 60s}
anomaly:
  - duplicated: {to: a, count: 1}
  - delivered: {to: a, count: 6}
  - seek-refused: {consumer: a, topic: orders, because: Seek offset illegal}
  - seek-refused: {consumer: a, topic: orders, because: not in assigned list}
healthy:
  - duplicated: {to: a, count: 0}
"""


@pytest.mark.extended
def test_a_seek_moves_its_position(run_scenario: RunScenario) -> None:
    run = run_scenario(SEEKS)
    assert held(run) == [True] * 4, run
