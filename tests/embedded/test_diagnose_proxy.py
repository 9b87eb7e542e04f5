"""Groups by POP and behind proxies: members that no broker knows, or that share all queues, are no malady."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from rocketchaos.harness.diagnose.checks import CHECKS
from rocketchaos.harness.diagnose.collect import Scope
from rocketchaos.harness.diagnose.diagnosis import Diagnosis, Report
from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.gate import Gate
from rocketchaos.harness.diagnose.output.text import text
from rocketchaos.harness.engine.hold import Held
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.scenario import parse_scenario

pytestmark = pytest.mark.embedded

BEGIN = """
name: held
title: "Members by POP, or behind a proxy"
"""
END = """
anomaly: [{delivered: {to: g, count: 0}}]
healthy: [{delivered: {to: g, at_least: 1}}]
expected: measured
"""
BEHIND_A_PROXY = """
cluster: {proxy: cluster}
topics: {orders: {queues: 4}, bills: {queues: 4}}
consumers:
  a: {group: g, client: grpc, subscribe: {orders: tagA}}
  b: {group: differs, client: grpc, subscribe: {bills: tagA}}
  c: {group: differs, client: grpc, subscribe: {bills: tagB}}
steps:
  - start: [a, b, c]
  - settle: {ownership: g, within: 60s}
  - settle: {ownership: differs, within: 60s}
  - send: {topic: orders, tag: tagA, count: 8, per_queue: 2}
  # Messages whose answer a loaded machine can't hand over stay invisible for 60 s.
  - settle: {delivered: a, count: 8, within: 120s}
"""
BOTH_WAYS = """
cluster: {proxy: cluster}
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, process: own, subscribe: {orders: tagA}}
  b: {group: g, process: own, through: proxy, subscribe: {orders: tagA}}
steps:
  - start: [a, b]
  - send: {topic: orders, tag: tagA, count: 8, per_queue: 2}
  # Whether each gets all of them is a race: whoever begins later begins where the other one's offsets are.
  - settle: {delivered: g, count: 8, within: 60s}
"""
BY_POP = """
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, api: pop, subscribe: {orders: tagA}}
  b: {group: g, api: pop, subscribe: {orders: TAG}}
steps:
  - start: [a, b]
  - settle: {ownership: g, within: 60s}
  - settle: {subscription: g, topic: orders, within: 60s}
  - send: {topic: orders, tags: [tagA, tagB], count: 16, per_queue: 4}
"""


Reports = dict[str, tuple[Report, ...]]
"""By group: what is found without the proxy, and with it where there is one."""


def diagnosed(steps: str, folder: Path) -> Reports:
    """Of a held run."""
    reports: Reports = {}

    async def look(held: Held, group: str, *proxies: str) -> Report:
        async with Gate() as gate:
            return await Diagnosis(gate, Scope((held.nameserver,), (held.groups[group],), (), proxies)).run()

    def hold(held: Held) -> None:
        ways = [(), *([(held.proxy,)] if held.proxy else [])]
        for group in held.groups:
            reports[group] = tuple(asyncio.run(look(held, group, *proxies)) for proxies in ways)

    with Runner(Options(version="5.5.0", runs=folder, use_running=False, hold=hold)) as runner:
        run = runner.run(runner.job(parse_scenario(f"{BEGIN}{steps}{END}", "held.scenario.yaml")))
    assert reports, f"never held: {run.outcome}"
    return reports


@pytest.fixture(scope="module")
def behind_a_proxy(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    return diagnosed(BEHIND_A_PROXY, tmp_path_factory.mktemp("proxied"))


@pytest.mark.extended
def test_a_group_behind_a_proxy_is_never_called_offline(behind_a_proxy: Reports) -> None:
    without, by_proxy = behind_a_proxy["g"]
    assert not without.findings
    assert {item.check.code for item in without.undetermined} == {"RC0210"}
    assert "a proxy that runs as a server of its own" in " ".join(text(without).split())
    assert not by_proxy.findings
    assert not by_proxy.offline
    by_members = {check.code for check in CHECKS.values() if check.by_members}
    owners = {"RC0301", "RC0302", "RC0303"}  # its members pop from all queues: none has an owner
    assert {item.check.code for item in by_proxy.undetermined} == {"RC0208", *by_members} - owners
    assert owners <= by_members
    assert "a proxy, which doesn't forward request 307" in " ".join(text(by_proxy).split())


@pytest.mark.extended
def test_members_of_a_proxy_that_differ_are_reported_by_their_stored_heartbeats(
    behind_a_proxy: Reports,
) -> None:
    without, by_proxy = behind_a_proxy["differs"]
    assert not without.findings
    (finding,) = by_proxy.findings
    assert (finding.check.code, finding.level) == ("RC0101", Level.ERROR)
    assert "which member pops a message first decides" in finding.effect


@pytest.mark.nightly
def test_members_of_a_proxy_beside_members_of_the_brokers_are_reported_with_what_it_does(
    tmp_path: Path,
) -> None:
    _, by_proxy = diagnosed(BOTH_WAYS, tmp_path)["g"]
    (finding,) = by_proxy.findings
    assert (finding.check.code, finding.level) == ("RC0211", Level.ERROR)
    assert "a proxy by remoting" in finding.sentence
    assert "the brokers themselves" in finding.sentence


# The wait is its subject.
@pytest.mark.nightly
def test_members_that_pop_share_all_queues_and_nobody_is_accused_of_it(tmp_path: Path) -> None:
    (alike,) = diagnosed(BY_POP.replace("TAG", "tagA"), tmp_path)["g"]
    assert not alike.at_least(Level.WARNING)
    assert not alike.offline
    (differ,) = diagnosed(BY_POP.replace("TAG", "tagB"), tmp_path)["g"]
    (finding,) = differ.at_least(Level.WARNING)
    assert finding.check.code == "RC0101"
    assert "which member pops a message first decides" in finding.effect
    assert not finding.messages
