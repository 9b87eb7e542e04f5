"""Namespaces, names that RocketMQ refuses, sending with a callback, and one broker's own settings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.embedded.small_scenario import RunScenario

pytestmark = pytest.mark.embedded

TEXT = """\
name: x
title: x
topics: {"uat%orders": {queues: 4}, orders: {queues: 4}, "bad:topic": {by_sending: true}}
producer: {namespace: uat, group: uat%p}
producers: {refused: {group: "10.0.0.1:9889", may_be_refused: true}, plain: {}}
consumers:
  a: {namespace: uat, group: uat%g, subscribe: {"uat%orders": '*'}, behaviour: {fail: 1}, retry_delay_level: 1}
  b: {group: g, subscribe: {orders: '*'}}
steps:
  - start: [a, b]
  - send: {topic: uat%orders, count: 8, per_queue: 2}
  - send: {topic: orders, producer: plain, count: 100, async: true}
  - send: {topic: orders, producer: refused, count: 1, may_fail: true}
  - send: {topic: "bad:topic", producer: plain, count: 2, async: true, may_fail: true}
  - settle: {retried: uat%g, count: 8, within: 30s}
  - settle: {delivered: b, count: 100, within: 30s}
anomaly:
  - delivered: {to: a, count: 8}
  - subscription: {group: uat%g, topic: uat%orders, expression: '*', clients: 1}
  - delivered: {to: b, count: 100}
  - start-refused: {producer: refused, because: illegal characters, exception: MQClientException}
  - send-refused: {topic: orders, count: 1, because: START_FAILED}
  - send-refused: {topic: "bad:topic", count: 2, because: illegal characters}
healthy: [{start-refused: {producer: plain}}]
"""
ONE_BROKER = """\
name: x
title: x
cluster: {brokers: [broker-a, broker-b], one_broker: {broker-b: {brokerPermission: 4}}}
topics: {orders: {queues: 2}}
groups: g
steps: [send: {topic: orders, count: 8}]
anomaly: [{placed: {topics: orders, brokers: broker-a}}]
healthy: [{placed: {topics: orders, brokers: [broker-a, broker-b]}}]
"""
NAME_SERVER = """\
name: x
title: x
cluster: {namesrv: {orderMessageEnable: true}, own: true}
topics: {orders: {queues: 2}}
groups: g
steps:
  - mqadmin: {as: put, command: "updateOrderConf -m put -t <orders> -v broker-a:2"}
  - ask: {as: route, node: nameserver, code: 105, fields: {topic: <orders>}}
anomaly: [{answer: {of: route, has: '"orderTopicConf":"broker-a:2"'}}]
healthy: [{answer: {of: route, lacks: '"orderTopicConf":"'}}]
"""


def outcome(found: dict[str, Any]) -> Any:
    return found["outcome"]


def test_whole_names_refusals_and_callbacks(run_scenario: RunScenario) -> None:
    assert outcome(run_scenario(TEXT)) == "reproduced"


@pytest.mark.nightly
def test_only_one_broker_has_its_line(run_scenario: RunScenario) -> None:
    assert outcome(run_scenario(ONE_BROKER)) == "reproduced"
    both = ONE_BROKER.replace(", one_broker: {broker-b: {brokerPermission: 4}}", "")
    assert outcome(run_scenario(both)) == "not-reproduced"


@pytest.mark.extended
def test_a_broker_that_is_closed_to_readers_takes_messages(run_scenario: RunScenario) -> None:
    assert outcome(run_scenario(ONE_BROKER.replace("Permission: 4", "Permission: 2"))) == "not-reproduced"


@pytest.mark.nightly
def test_name_servers_have_their_lines(run_scenario: RunScenario) -> None:
    assert outcome(run_scenario(NAME_SERVER)) == "reproduced"
    assert outcome(run_scenario(NAME_SERVER, "5.5.0")) == "reproduced"
    without = NAME_SERVER.replace("namesrv: {orderMessageEnable: true}, ", "")
    assert outcome(run_scenario(without)) == "not-reproduced"
    misspelt = run_scenario(NAME_SERVER.replace("orderMessageEnable", "orderMesageEnable"), trouble="usage")
    assert "settings that nameserver did not take: orderMesageEnable" in misspelt["reason"]
