"""A controller elects a slave once its master is gone, on a real RocketMQ."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.embedded.small_scenario import events_of, held, reproduce

pytestmark = [pytest.mark.embedded, pytest.mark.extended]

ELECTED = """\
name: elected-slave
title: a controller elects the slave, and later the former master again
cluster: {slaves: broker-a, controller: true, namesrv: {enableElectUncleanMaster: false}}
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: '*'}}
steps:
  - send: {topic: orders, tag: tagA, count: 8}
  - settle: {copied: broker-a-slave, within: 90s}
  - kill: broker-a
  - settle: {master: broker-a-slave, within: 60s}
  - start: a
  - settle: {delivered: a, count: 8, within: 60s}
  - send: {topic: orders, tag: tagA, count: 8}
  - settle: {delivered: a, count: 16, within: 60s}
  - restart: broker-a
  - settle: {copied: broker-a, within: 90s}
  - stop: broker-a-slave
  - settle: {master: broker-a, within: 60s}
  - settle: {route: orders, within: 60s}
  - send: {topic: orders, tag: tagA, count: 8}
  - settle: {delivered: a, count: 24, within: 60s}
anomaly:
  - delivered: {to: a, count: 24}
healthy:
  - delivered: {to: a, at_most: 23}
"""


@pytest.mark.nightly
def test_its_consumer_gets_what_was_stored(tmp_path: Path) -> None:
    run = reproduce(ELECTED, tmp_path, "5.3.3", limit_s=400)
    assert held(run) == [True]
    settled = [event["data"] for event in events_of(run) if event["kind"] == "settled"]
    seen = [data["seen"] for data in settled if data["condition_id"] == "master"]
    assert seen == ["broker-a-slave is the master of broker-a", "broker-a is the master of broker-a"]
