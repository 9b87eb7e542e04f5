"""A diagnosis of a real cluster: right, and without a trace."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from rocketchaos.harness.cli.diagnosed_scenarios import write_scenarios
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.diagnose.collect import Scope
from rocketchaos.harness.diagnose.diagnosis import Diagnosis, Report
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.gate import Gate
from rocketchaos.harness.engine.hold import Held
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.fastjson import loads
from rocketchaos.harness.scenario import load_scenario, parse_scenario

pytestmark = pytest.mark.embedded

SCENARIO = """
name: held
title: "Two members want different tags, on two brokers"
cluster: {brokers: [broker-a, broker-b]}
topics:
  orders: {queues: 4}
consumers:
  a: {group: g, process: own, subscribe: {orders: tagA}}
  b: {group: g, process: own, subscribe: {orders: tagB}}
steps:
  - start: [a, b]
  - settle: {ownership: g, within: 90s}
  - settle: {subscription: g, topic: orders, within: 90s}
  - send: {topic: orders, tags: [tagA, tagB], count: 32, per_queue: 4}
  - settle: {offsets: g, topic: orders, lag: 0, within: 90s}
anomaly:
  - undelivered: {group: g, at_least: 24}
healthy:
  - delivered: {to: g, count: 32}
"""


def look(name_server: str, group: str) -> tuple[Report, list[Exchange]]:
    async def run() -> tuple[Report, list[Exchange]]:
        async with Gate() as gate:
            scope = Scope((name_server,), (group,), read_messages=True)
            return await Diagnosis(gate, scope).run(), gate.record

    return asyncio.run(run())


def state(name_server: str, group: str, topic: str) -> dict[str, Any]:
    """All that a diagnosis could have changed: settings, topics, groups, offsets, members, subscriptions."""
    found: dict[str, Any] = {}

    def ask(address: str, code: int, **fields: str) -> Any:
        answer = remoting.ask(address, code, fields, limit_s=10)
        assert answer.code == 0, (code, answer.remark)
        return answer

    brokers = loads(ask(name_server, 106).body)["brokerAddrTable"]
    found["topics at the name server"] = sorted(loads(ask(name_server, 206).body)["topicList"])
    for name, broker in brokers.items():
        address = broker["brokerAddrs"]["0"]
        found[f"{name} settings"] = sorted(ask(address, 26).body.decode().splitlines())
        for code in (21, 201, 43):
            for part, content in loads(ask(address, code).body).items():
                found[f"{name} {code} {part}"] = content
        # The group's members pull their retry topic, and store its offsets, by their own timers, whoever looks.
        for table in ("offsetTable", "pullOffsetTable"):
            found.get(f"{name} 43 {table}", {}).pop(f"%RETRY%{group}@{group}", None)
        # 5.5.0 tells beside them, by group and by topic, whose offsets these are.
        topics_of = found.get(f"{name} 43 groupTopicMap", {})
        found[f"{name} 43 groupTopicMap"] = {
            key: [item for item in topics if item != f"%RETRY%{group}"] for key, topics in topics_of.items()
        }
        found.get(f"{name} 43 topicGroupMap", {}).pop(f"%RETRY%{group}", None)
        members = loads(ask(address, 203, consumerGroup=group).body)
        # A member's heartbeat that a rebalance skipped raises the version up to 30 s later, whoever looks.
        for stored in members["subscriptionTable"].values():
            del stored["subVersion"]
        found[f"{name} 203"] = {**members, "connectionSet": sorted(map(str, members["connectionSet"]))}
        found[f"{name} 202"] = loads(ask(address, 202, topic=topic).body)["offsetTable"]
    return found


def rebalances(runs: Path, topic: str) -> int:
    """How often a member's share of the topic changed, by the clients' logs.

    Their shares of the retry topic change a second later, once its route has reached them: whoever looks.
    """
    lines = [
        line
        for path in runs.rglob("*.log")
        if path.is_file()
        for line in path.read_text(errors="replace").splitlines()
    ]
    return sum("rebalanced result changed" in line and f"topic={topic}," in line for line in lines)


@pytest.mark.parametrize("version", ["4.9.4", pytest.param("5.5.0", marks=pytest.mark.nightly)])
def test_a_diagnosis_is_right_and_changes_nothing(version: str, tmp_path: Path) -> None:
    seen: dict[str, Any] = {}

    def hold(held: Held) -> None:
        where = held.nameserver, held.groups["g"], held.topics["orders"]
        seen["before"], seen["rebalances before"] = state(*where), rebalances(tmp_path, where[2])
        seen["reports"] = [look(where[0], where[1]) for _ in range(3)]
        seen["after"], seen["rebalances after"] = state(*where), rebalances(tmp_path, where[2])

    options = Options(version=version, runs=tmp_path, use_running=False, hold=hold)
    with Runner(options) as runner:
        report = runner.run(runner.job(parse_scenario(SCENARIO, "held.scenario.yaml")))

    assert seen, report.outcome
    for part, before in seen["before"].items():
        assert seen["after"][part] == before, part
    assert seen["rebalances before"] > 0  # otherwise they would not be seen
    assert seen["rebalances after"] == seen["rebalances before"]
    undelivered = 32 - sum(1 for fate in report.outcome.messages if fate.message_class == "delivered")
    for diagnosis, record in seen["reports"]:
        (finding,) = diagnosis.findings
        assert finding.check.code == "RC0101"
        assert sum(message.count for message in finding.messages) == undelivered
        asked = Counter((item.look, item.fields["clientId"]) for item in record if item.code == 307)
        assert set(asked.values()) == {1}
        assert not diagnosis.undetermined


WRITTEN = {
    "RC0102": """
consumers:
  a: {group: g, process: own, subscribe: {orders: tagA}}
  b: {group: g, process: own, subscribe: {orders: tagA}}
steps:
  - start: [a, b]
  - settle: {ownership: g, within: 90s}
  - heartbeat: {client: h1, group: g, subscribe: {orders: {expression: tagC, version: 2764000000000}}}
  - heartbeat: {close: h1}
""",
    "RC0201": """
consumers:
  a: {group: g, client_id: "172.17.0.1@1", subscribe: {orders: '*'}}
  b: {group: g, client_id: "172.17.0.1@1", subscribe: {orders: '*'}}
steps:
  - start: [a, b]
  - settle: {log: a, matches: 'rebalanced result changed.*topic=orders', within: 60s}
  - settle: {log: b, matches: 'rebalanced result changed.*topic=orders', within: 60s}
""",
    "RC0403": """
consumers:
  a: {group: g, subscribe: {orders: '*'}}
steps:
  - start: a
  - settle: {ownership: g, within: 90s}
  - topic-config: {topic: orders, set: {readQueueNums: 2}}
  - send: {topic: orders, tag: tagA, count: 4, per_queue: 1}
""",
}
"""Maladies by their code; each is diagnosed, written as a scenario, and done again by that."""


@pytest.mark.extended
@pytest.mark.parametrize(
    "code", [pytest.param(code, marks=[] if code == "RC0102" else [pytest.mark.nightly]) for code in WRITTEN]
)
def test_what_is_written_of_a_sick_group_is_reproduced(code: str, tmp_path: Path) -> None:
    head = "name: sick\ntitle: a sick group\ntopics: {orders: {queues: 4}}"
    checks = "anomaly: [{delivered: {to: g, count: 0}}]\nhealthy: [{delivered: {to: g, at_least: 1}}]"
    scenario = parse_scenario(f"{head}{WRITTEN[code]}{checks}\nexpected: measured\n", "sick.scenario.yaml")

    def hold(held: Held) -> None:
        report, _ = look(held.nameserver, held.groups["g"])
        assert {item.check.code for item in report.at_least(Level.WARNING)} in ({code}, {code, "RC0105"})
        write_scenarios(report, tmp_path / "written")

    with Runner(Options(runs=tmp_path / "runs", use_running=False, hold=hold)) as runner:
        runner.run(runner.job(scenario))
    assert done_again(code, tmp_path) == ["reproduced", "not-reproduced"]


def done_again(code: str, folder: Path) -> list[str]:
    """The outcomes of the scenario that was written, and of its control."""
    names = (f"diagnosed-{code.lower()}.scenario.yaml", f"diagnosed-{code.lower()}-control.scenario.yaml")
    with Runner(Options(runs=folder / "runs")) as runner:
        return [
            str(runner.run(runner.job(load_scenario(folder / "written" / name))).outcome.kind)
            for name in names
        ]


BY_SQL = """
name: by-sql
title: "Two members want different SQL92"
cluster: {broker: {enablePropertyFilter: true}}
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, process: own, subscribe: {orders: {sql: "region = 'eu'"}}}
  b: {group: g, process: own, subscribe: {orders: {sql: "region = 'eu' AND amount > 100"}}}
steps:
  - start: [a, b]
  - settle: {ownership: g, within: 90s}
  # The narrow one is held from here on.
  - subscribe: {consumer: b, topic: orders, expression: {sql: "region = 'eu' AND amount > 100"}}
  - settle: {subscription: g, topic: orders, within: 90s}
  - send: {topic: orders, tag: tagA, count: 8, per_queue: 2, properties: {region: eu, amount: "50"}}
  - send: {topic: orders, tag: tagA, count: 4, per_queue: 1, properties: {region: eu, amount: "200"}}
  - settle: {offsets: g, topic: orders, lag: 0, within: 90s}
anomaly:
  - undelivered: {group: g, count: 8}
healthy:
  - delivered: {to: g, count: 12}
"""


@pytest.mark.nightly
@pytest.mark.extended
def test_which_messages_are_lost_by_sql92_is_told_and_done_again(tmp_path: Path) -> None:
    def hold(held: Held) -> None:
        report, _ = look(held.nameserver, held.groups["g"])
        (finding,) = report.findings
        assert [(item.tag, item.count) for item in finding.messages] == [("region = 'eu'", 2)] * 4
        write_scenarios(report, tmp_path / "written")

    scenario = parse_scenario(BY_SQL, "by-sql.scenario.yaml")
    with Runner(Options(runs=tmp_path / "runs", use_running=False, hold=hold)) as runner:
        assert str(runner.run(runner.job(scenario)).outcome.kind) == "reproduced"
    assert done_again("RC0101", tmp_path) == ["reproduced", "not-reproduced"]


def looks_seen(port: int, number: int) -> None:
    """Return once the metrics have told of so many looks."""
    told: set[str] = set()

    @retry(retry=retry_if_result(lambda enough: not enough), wait=wait_fixed(0.2), stop=stop_after_delay(60))
    def enough() -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                lines = answer.read().decode().splitlines()
        except OSError:
            return False
        told.update(line for line in lines if line.startswith("rocketchaos_diagnose_last_look"))
        return len(told) >= number

    enough()


# Three looks, each as long as a real one.
@pytest.mark.nightly
def test_a_watch_that_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    seen: list[tuple[int, str, str]] = []
    states: list[dict[str, Any]] = []

    def hold(held: Held) -> None:
        where = held.nameserver, held.groups["g"], held.topics["orders"]
        states.append(state(*where))
        for number in (1, 2, 4):
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            command = [sys.executable, "-m", "rocketchaos", "diagnose", "--namesrv", held.nameserver]
            command += ["--group", held.groups["g"], "--watch", "60s", "--bundle", str(tmp_path / "b.json")]
            command += ["--metrics", f"127.0.0.1:{port}"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            try:
                looks_seen(port, number)
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=20)
            finally:
                process.kill()
            seen.append((process.returncode, out, err))
        states.append(state(*where))

    with Runner(Options(runs=tmp_path / "runs", use_running=False, hold=hold)) as runner:
        runner.run(runner.job(parse_scenario(SCENARIO, "held.scenario.yaml")))
    assert [code for code, _, _ in seen] == [ExitCode.INTERRUPTED] * 3
    assert "Traceback" not in str(seen)
    assert all("error [RC0101]" in out for _, out, _ in seen)  # the answer so far
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    assert states[0] == states[1]
