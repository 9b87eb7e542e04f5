"""`fill-disk` and `free-disk`: where they can be done, and what proves that they were."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.history import History
from rocketchaos.harness.faults import fill_disk
from rocketchaos.harness.faults.base import Faults
from rocketchaos.harness.plan.feasibility import why_not
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.diagnostics import InvalidScenario
from rocketchaos.harness.steps.context import StepContext
from rocketchaos.harness.steps.fill_disk import FillDisk
from rocketchaos.harness.steps.free_disk import FreeDisk

TEXT = """\
name: disks
title: a full disk
topics: {orders: {queues: 4}}
consumers: {a: {group: g, subscribe: {orders: tagA}}}
steps:
  - start: a
  - STEP
anomaly: [{delivered: {to: g, count: 1}}]
healthy: [{delivered: {to: g, count: 0}}]
"""
FULL = "physic disk of commitLog maybe full soon, used 0.19, so mark disk full\n"


def scenario(step: str = "fill-disk: broker-a") -> Any:
    return parse_scenario(TEXT.replace("STEP", step), "s.yaml")


class Cluster:
    """A cluster of one broker, which logs that its disk is full when it is started so."""

    kind = "embedded"

    def __init__(self, log: Path, says: str) -> None:
        self.log, self.says, self.done = log, says, list[str]()

    def fill_disk(self, broker: str) -> None:
        self.done.append(f"fill {broker}")
        with self.log.open("a") as log:
            log.write(self.says)

    def free_disk(self, broker: str) -> None:
        self.done.append(f"free {broker}")


class Context:
    """As much of a run's context as the steps need."""

    def __init__(self, folder: Path, says: str) -> None:
        log = folder / "server.log"
        log.write_text(FULL)  # of an earlier fault
        self.cluster = Cluster(log, says)
        self.history = History("run", folder / "events.jsonl")
        self.faults = Faults(self.history)
        self.down: dict[str, str] = {}
        self.ready = 0
        self.servers = self

    def node(self, name: str) -> Any:
        return SimpleNamespace(name=name, log=self.cluster.log, process="process 7")

    def note_down(self, name: str, how: str) -> None:
        self.down[name] = how

    def note_up(self, name: str) -> None:
        del self.down[name]

    def record(self, node: Any) -> None:
        del node
        self.ready += 1


def context(folder: Path, says: str = f"something else\n{FULL}") -> Any:
    return cast(StepContext, Context(folder, says))


def test_the_broker_says_that_its_disk_is_full_and_comes_back_with_one_that_is_not(tmp_path: Path) -> None:
    run = context(tmp_path)
    FillDisk(broker="broker-a").run(run)
    assert list(run.faults.active()) == ["fill-disk broker-a"]
    FreeDisk(broker="broker-a").run(run)
    assert run.cluster.done == ["fill broker-a", "free broker-a"]
    assert (run.ready, run.down, run.faults.active()) == (2, {}, {})
    events = (tmp_path / "events.jsonl").read_text().splitlines()
    effective = next(line for line in events if "fault-effective" in line)
    assert "broker-a logs: physic disk of commitLog maybe full soon" in effective


def test_a_broker_that_does_not_say_so_has_no_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fill_disk, "_LIMIT_S", 0.2)
    with pytest.raises(PreconditionNotMet, match=r"didn't take its disk for full .* doesn't say `so mark"):
        FillDisk(broker="broker-a").run(context(tmp_path, says="all is well\n"))


def test_a_disk_is_filled_once_and_freed_after_that(tmp_path: Path) -> None:
    run = context(tmp_path)
    with pytest.raises(PreconditionNotMet, match="free-disk: the disk of broker-a is not full"):
        FreeDisk(broker="broker-a").run(run)
    FillDisk(broker="broker-a").run(run)
    with pytest.raises(PreconditionNotMet, match="fill-disk: the disk of broker-a is full already"):
        FillDisk(broker="broker-a").run(run)


def test_it_can_be_done_to_embedded_brokers_of_4_9_alone() -> None:
    assert why_not(scenario(), "4.9.7", ClusterKind.EMBEDDED) is None
    shown = why_not(scenario(), "5.5.0", ClusterKind.EMBEDDED)
    assert shown == "disks needs `fill-disk`, which RocketMQ 5.5.0 doesn't support: <5 does"
    assert "fill a disk; `--on embedded` can" in (why_not(scenario(), "4.9.4", ClusterKind.CONTAINERS) or "")


def test_only_a_broker_has_a_disk() -> None:
    with pytest.raises(InvalidScenario, match="broker"):
        scenario("fill-disk: nameserver")
