"""What a broker keeps back, filters, or hands out by POP, as a diagnosis of a real cluster sees it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from rocketchaos.harness.diagnose.collect import Scope
from rocketchaos.harness.diagnose.diagnosis import Diagnosis, Report
from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.gate import Gate
from rocketchaos.harness.engine.hold import Held
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.fastjson import loads
from rocketchaos.harness.scenario import parse_scenario

pytestmark = [pytest.mark.embedded, pytest.mark.extended]

KEPT_BACK = """
name: held
title: "Messages that wait for a delay, and for a producer that has died"
cluster: {broker: {transactionCheckInterval: 5000, transactionTimeOut: 1000}}
topics:
  orders: {queues: 4}
consumers:
  a: {group: g, process: own, subscribe: {orders: tagA}}
steps:
  - start: a
  - settle: {ownership: g, within: 90s}
  - send: {topic: orders, tag: tagA, count: 3, delay_level: 18}
  - send: {topic: orders, tag: tagA, count: 2, transaction: {state: unknown}}
  - kill: producer
anomaly:
  - delivered: {to: g, at_least: 1}
healthy:
  - delivered: {to: g, count: 0}
"""
POP = """
name: held
title: "Members pop from two brokers"
cluster: {brokers: [broker-a, broker-b]}
topics:
  orders: {queues: 4}
consumers:
  a: {group: g, process: own, api: pop, subscribe: {orders: tagA}}
steps:
  - start: a
  - settle: {ownership: g, within: 90s}
anomaly:
  - delivered: {to: g, at_least: 1}
healthy:
  - delivered: {to: g, count: 0}
"""


OTHERWISE = """
name: held
title: "Members want tagA, and the producer sends TagA"
topics:
  orders: {queues: 4}
consumers:
  a: {group: g, process: own, subscribe: {orders: tagA}}
steps:
  - start: a
  - settle: {ownership: g, within: 90s}
  - send: {topic: orders, tag: TagA, count: 8, per_queue: 2}
anomaly:
  - undelivered: {group: g, count: 8}
healthy:
  - delivered: {to: g, count: 8}
"""


def diagnosed(held: Held) -> Report:
    async def look() -> Report:
        async with Gate() as gate:
            return await Diagnosis(gate, Scope((held.nameserver,), (held.groups["g"],))).run()

    return asyncio.run(look())


def held_open(text: str, version: str, runs: Path) -> Report:
    """The diagnosis of a run's last state; of POP with another mode on one broker."""
    found: list[Report] = []

    def hold(held: Held) -> None:
        if text is POP:
            table = loads(remoting.ask(held.nameserver, 106, limit_s=10).body)["brokerAddrTable"]
            mode = {"topic": held.topics["orders"], "consumerGroup": held.groups["g"], "mode": "PULL"}
            body = json.dumps({**mode, "popShareQueueNum": 0}).encode()
            answer = remoting.ask(table["broker-b"]["brokerAddrs"]["0"], 401, {}, body, limit_s=10)
            assert answer.code == 0, answer.remark
        found.append(diagnosed(held))

    options = Options(version=version, runs=runs, use_running=False, hold=hold)
    with Runner(options) as runner:
        report = runner.run(runner.job(parse_scenario(text, "held.scenario.yaml")))
    assert found, report.outcome
    return found[0]


@pytest.mark.parametrize("version", ["4.9.4", "5.5.0"])
def test_delayed_messages_and_undecided_transactions_are_found(version: str, tmp_path: Path) -> None:
    report = held_open(KEPT_BACK, version, tmp_path)
    found = {item.check.code: item for item in report.findings}
    assert set(found) == {"RC0812", "RC0813"}, [item.sentence for item in report.findings]
    assert "3 of level 18 (2h)" in found["RC0812"].sentence
    assert found["RC0813"].level is Level.ERROR
    assert "2 half messages" in found["RC0813"].sentence


def test_pop_mode_on_one_broker_alone_is_found(tmp_path: Path) -> None:
    report = held_open(POP, "5.5.0", tmp_path)
    assert [item.check.code for item in report.findings] == ["RC0213"]
    assert report.findings[0].level is Level.ERROR


@pytest.mark.parametrize("version", ["4.9.4", "5.5.0"])
def test_a_tag_that_the_producer_writes_otherwise_is_found(version: str, tmp_path: Path) -> None:
    report = held_open(OTHERWISE, version, tmp_path)
    (finding,) = [item for item in report.findings if item.level >= Level.WARNING]
    assert finding.check.code == "RC0108"
    assert "8 have the tag `TagA`" in finding.sentence
