"""`upgrade`: where it can be done, which releases it needs, and what proves it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.history import History
from rocketchaos.harness.faults import upgrade
from rocketchaos.harness.faults.base import Faults
from rocketchaos.harness.jars.releases import Need
from rocketchaos.harness.plan.feasibility import why_not
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.plan.obtainable import needs_of
from rocketchaos.harness.rocketmq.remoting import Answer
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.diagnostics import InvalidScenario
from rocketchaos.harness.steps.context import StepContext
from rocketchaos.harness.steps.upgrade import Upgrade
from tests.unit.jars.made_build import made_build

TEXT = """\
name: newer
title: a newer broker
HEAD
topics: {orders: {queues: 4}}
consumers: {a: {group: g, subscribe: {orders: tagA}}}
steps:
  - start: a
  - STEP
anomaly: [{delivered: {to: g, count: 1}}]
healthy: [{delivered: {to: g, count: 0}}]
"""
STEP = "upgrade: {broker: broker-a, to: 5.5.0}"


def scenario(step: str = STEP, head: str = "") -> Any:
    return parse_scenario(TEXT.replace("STEP", step).replace("HEAD\n", head), "s.yaml")


def runtime(version: str) -> Answer:
    return Answer(0, "", {}, json.dumps({"table": {"brokerVersionDesc": version}}).encode())


TOO_EARLY = Answer(1, "java.util.NoSuchElementException", {}, b"")


class Context:
    """As much of a run's context as the step needs, with a cluster of one broker."""

    kind = "embedded"

    def __init__(self, folder: Path) -> None:
        self.history = History("run", folder / "events.jsonl")
        self.faults = Faults(self.history)
        self.down: dict[str, str] = {}
        self.done: list[str] = []
        self.servers = self.cluster = self

    def upgrade_node(self, broker: str, version: str) -> None:
        self.done.append(f"{broker} {self.down[broker]} with {version}")

    def node(self, name: str) -> Any:
        return SimpleNamespace(name=name, address="127.0.0.1:1", process="process 7")

    def note_down(self, name: str, how: str) -> None:
        self.down[name] = how

    def note_up(self, name: str) -> None:
        del self.down[name]

    def record(self, node: Any) -> None:
        self.done.append(f"{node.name} is recorded")


def answering(monkeypatch: pytest.MonkeyPatch, *answers: Answer) -> None:
    """A broker that gives these answers, the last one again and again."""
    left = list(answers)
    monkeypatch.setattr(upgrade.remoting, "ask", lambda *_: left.pop(0) if len(left) > 1 else left[0])


def test_the_broker_shows_the_version_that_it_has_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, TOO_EARLY, runtime("V5_5_0"))
    run = Context(tmp_path)
    Upgrade(broker="broker-a", to="5.5.0").run(cast(StepContext, run))
    assert run.done == ["broker-a restarting with 5.5.0", "broker-a is recorded"]
    assert (run.down, run.faults.active()) == ({}, {})
    events = (tmp_path / "events.jsonl").read_text().splitlines()
    effective = next(line for line in events if "fault-effective" in line)
    assert "broker-a is ready as process 7, and shows the version V5_5_0" in effective


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (runtime("V4_9_4"), "broker-a shows the version V4_9_4, not 5.5.0"),
        (
            TOO_EARLY,
            "doesn't show its version within 0 s; last seen: code 1, java.util.NoSuchElementException",
        ),
    ],
)
def test_a_broker_that_does_not_show_it_is_not_upgraded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Answer, words: str
) -> None:
    answering(monkeypatch, answer)
    monkeypatch.setattr(upgrade, "_LIMIT_S", 0.2)
    with pytest.raises(PreconditionNotMet, match=words):
        Upgrade(broker="broker-a", to="5.5.0").run(cast(StepContext, Context(tmp_path)))


def test_its_release_is_there_before_the_run() -> None:
    twice = f'{STEP}\n  - upgrade: {{broker: broker-a, to: "4.9.4"}}\n  - {STEP}'
    job = Job(scenario(twice), "4.9.4")
    needed = needs_of(job, ClusterKind.EMBEDDED)
    assert needed == (Need("4.9.4"), Need("5.5.0", ("server",)), Need("4.9.4", ("server",)))
    assert needs_of(Job(scenario("wait: 1s"), "4.9.4"), ClusterKind.EMBEDDED) == (Need("4.9.4"),)


def test_a_build_may_show_the_version_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made_build(tmp_path / "build", "5.5.1-SNAPSHOT")
    step = f"upgrade: {{broker: broker-a, to: {folder}}}"
    (name,) = scenario(step).further_releases
    assert name.startswith("5.5.1-SNAPSHOT+")
    needed = needs_of(Job(scenario(step), "5.5.0"), ClusterKind.EMBEDDED)
    assert needed == (Need("5.5.0"), Need(name, ("server",)))
    answering(monkeypatch, runtime("V5_5_0"))
    run = Context(tmp_path)
    Upgrade(broker="broker-a", to=str(folder)).run(cast(StepContext, run))
    assert run.done[0] == f"broker-a restarting with {name}"


def test_containers_keep_their_version() -> None:
    assert why_not(scenario(), "4.9.4", ClusterKind.EMBEDDED) is None
    assert "upgrade; `--on embedded` can" in (why_not(scenario(), "4.9.4", ClusterKind.CONTAINERS) or "")
    assert scenario().needs_own_cluster


@pytest.mark.parametrize(
    ("step", "head", "words"),
    [
        ("upgrade: {broker: broker-a, to: 5.5}", "", "`to` needs text, not the number 5.5"),
        ('upgrade: {broker: broker-a, to: "5.5"}', "", "'5.5' is no RocketMQ version"),
        ('upgrade: {broker: broker-a, to: "4.8.0"}', "", "RocketMQ 4.8.0 is not supported"),
        ("upgrade: {broker: broker-a, to: ./nowhere}", "", "nowhere"),
        ('upgrade: {broker: nameserver, to: "5.5.0"}', "", "nameserver"),
        (STEP, "cluster: {accounts: {shop-account: {}}}\n", "leave `accounts` out"),
        (STEP, "cluster: {proxy: local}\n", "a broker with a proxy inside can't be upgraded"),
    ],
)
def test_what_can_not_be_upgraded_is_refused(step: str, head: str, words: str) -> None:
    with pytest.raises(InvalidScenario, match=words):
        scenario(step, head)
