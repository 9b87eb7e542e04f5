"""A slave has copied what its master has, and serves it as a master, on a real RocketMQ."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.embedded.small_scenario import events_of, held, reproduce

pytestmark = [pytest.mark.embedded, pytest.mark.extended]

# On 5.5.0 slaves copy no offsets, and topics every 60 s.
PROMOTED = """\
name: promoted-slave
title: a slave is made the master by hand once its master is dead
cluster: {slaves: broker-a}
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: '*'}}
steps:
  - start: a
  - settle: {ownership: g, within: 60s}
  - send: {topic: orders, tag: tagA, count: 8}
  - settle: {offsets: g, topic: orders, within: 60s}
  - settle: {copied: broker-a-slave, within: 90s}
  - settle: {copied_offsets: broker-a-slave, within: 90s}
  - kill: broker-a
  - broker-config: {set: {brokerRole: ASYNC_MASTER}, broker: broker-a-slave}
  - restart: broker-a-slave
  - settle: {route: orders, within: 90s}
  - send: {topic: orders, tag: tagA, count: 8}
  - settle: {delivered: a, count: 16, within: 90s}
anomaly:
  - delivered: {to: a, count: 16}
healthy:
  - delivered: {to: a, at_most: 15}
"""


@pytest.mark.nightly
def test_it_serves_what_it_has_copied(tmp_path: Path) -> None:
    run = reproduce(PROMOTED, tmp_path, "4.9.4", limit_s=300)
    assert held(run) == [True]
    settled = [event["data"] for event in events_of(run) if event["kind"] == "settled"]
    seen = {data["condition_id"]: data["seen"] for data in settled}
    assert seen["copied"] == seen["copied_offsets"] == "broker-a-slave has all of broker-a"
