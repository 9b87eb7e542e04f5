"""What a broker keeps back, filters, or hands out by POP, as a diagnosis of a real cluster sees it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from rocketchaos.harness.diagnose.collect import Scope
from rocketchaos.harness.diagnose.diagnosis import Diagnosis, Report
from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.gate import Gate, Limits
from rocketchaos.harness.engine.hold import Held
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.fastjson import loads
from rocketchaos.harness.scenario import parse_scenario

pytestmark = [pytest.mark.embedded, pytest.mark.extended]

KEPT_BACK = """
name: held
title: "Messages that wait for a delay, or for a dead producer, or have another tag than members want"
cluster: {broker: {transactionCheckInterval: 5000, transactionTimeOut: 1000}}
topics:
  orders: {queues: 4}
  bills: {queues: 4}
consumers:
  a: {group: g, process: own, subscribe: {orders: tagA}}
  b: {group: otherwise, process: own, subscribe: {bills: tagA}}
steps:
  - start: [a, b]
  - settle: {ownership: g, within: 90s}
  - settle: {ownership: otherwise, within: 90s}
  - send: {topic: bills, tag: TagA, count: 8, per_queue: 2}
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
Reports = dict[str, Report]
"""By group."""


def diagnosed(held: Held, group: str) -> Report:
    async def look() -> Report:
        # Two cores are busy with other tests, and how fast a broker answers is not the subject.
        async with Gate(limits=Limits(answer_s=30, relayed_s=30)) as gate:
            return await Diagnosis(gate, Scope((held.nameserver,), (held.groups[group],))).run()

    return asyncio.run(look())


def held_open(text: str, version: str, runs: Path) -> Reports:
    """The diagnoses of a run's last state; of POP with another mode on one broker."""
    found: Reports = {}

    def hold(held: Held) -> None:
        if text is POP:
            table = loads(remoting.ask(held.nameserver, 106, limit_s=10).body)["brokerAddrTable"]
            mode = {"topic": held.topics["orders"], "consumerGroup": held.groups["g"], "mode": "PULL"}
            body = json.dumps({**mode, "popShareQueueNum": 0}).encode()
            answer = remoting.ask(table["broker-b"]["brokerAddrs"]["0"], 401, {}, body, limit_s=10)
            assert answer.code == 0, answer.remark
        found.update({group: diagnosed(held, group) for group in held.groups})

    options = Options(version=version, runs=runs, use_running=False, hold=hold)
    with Runner(options) as runner:
        report = runner.run(runner.job(parse_scenario(text, "held.scenario.yaml")))
    assert found, report.outcome
    return found


@pytest.fixture(scope="module", params=["4.9.4", pytest.param("5.5.0", marks=pytest.mark.nightly)])
def kept_back(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    return held_open(KEPT_BACK, request.param, tmp_path_factory.mktemp("held"))


def test_delayed_messages_and_undecided_transactions_are_found(kept_back: Reports) -> None:
    report = kept_back["g"]
    found = {item.check.code: item for item in report.findings}
    assert set(found) == {"RC0812", "RC0813"}, [item.sentence for item in report.findings]
    assert "3 of level 18 (2h)" in found["RC0812"].sentence
    assert found["RC0813"].level is Level.ERROR
    assert "2 half messages" in found["RC0813"].sentence


def test_a_tag_that_the_producer_writes_otherwise_is_found(kept_back: Reports) -> None:
    report = kept_back["otherwise"]
    found = {item.check.code: item for item in report.findings if item.level is not Level.INFO}
    assert set(found) == {"RC0108"}, [item.sentence for item in report.findings]
    # The transactions are of a topic that this group doesn't consume.
    levels = [item.level for item in report.findings if item.check.code == "RC0813"]
    assert levels == [Level.INFO]
    assert "8 have the tag `TagA`" in found["RC0108"].sentence


@pytest.mark.nightly
def test_pop_mode_on_one_broker_alone_is_found(tmp_path: Path) -> None:
    report = held_open(POP, "5.5.0", tmp_path)["g"]
    assert [item.check.code for item in report.findings] == ["RC0213"], report.undetermined
    assert report.findings[0].level is Level.ERROR
