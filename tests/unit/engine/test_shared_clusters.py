"""How long runs share a cluster. The clusters here are doubles: no cluster is started."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from rocketchaos.harness.engine.managed_cluster import ManagedCluster
from rocketchaos.harness.engine.runner import SHARED_CLUSTERS_AT_MOST, Runner, order_of
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.history_builder import scenario_of

SHARED_FOR_S = 60.0
SCENARIO = """\
name: shared
title: "runs on a shared cluster"
{head}
topics: {{orders: {{queues: 4}}}}
consumers: {{a: {{group: g, subscribe: {{orders: tagA}}}}}}
steps: [{{start: a}}]
anomaly: [{{undelivered: {{at_least: 1}}}}]
healthy: [{{delivered: {{to: g, count: 4}}}}]
"""


def scenario(head: str = "timing: compressed") -> Scenario:
    return scenario_of(SCENARIO.format(head=head))


@dataclass(eq=False)
class DoubleOfASession:
    """What a runner asks of a cluster."""

    shared: bool = False
    failed: bool = False
    cluster: None = None
    closed: bool = False
    since_s: float = field(default_factory=time.monotonic)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[DoubleOfASession]:
    """Every cluster that a runner has opened."""
    made: list[DoubleOfASession] = []

    def open_one(_runner: Runner, _timing: str, _job: Job) -> ManagedCluster:
        made.append(DoubleOfASession())
        return cast(ManagedCluster, made[-1])

    monkeypatch.setattr(Runner, "_open", open_one)
    return made


@pytest.fixture(autouse=True)
def nothing_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    """No jar is downloaded, and no Java is started, to make class-data archives."""
    monkeypatch.setattr(Runner, "_make_all_archives", lambda *_unused: None)


def a_runner(folder: Path, **options: Any) -> tuple[Runner, Job]:
    runner = Runner(Options(runs=folder, shared_for_s=SHARED_FOR_S, **options))
    return runner, runner.job(scenario())


def test_a_cluster_is_shared_until_it_is_old(tmp_path: Path, opened: list[DoubleOfASession]) -> None:
    runner, job = a_runner(tmp_path)
    with runner.cluster_for(job) as item, runner.cluster_for(job) as other:
        assert item is other
    opened[0].since_s -= SHARED_FOR_S + 1
    with runner.cluster_for(job) as later:
        assert later is not item
        assert opened[0].closed, "nobody is on it any more"
    runner.close()
    assert len(opened) == 2
    assert opened[1].closed


def test_an_old_cluster_ends_with_its_last_run(tmp_path: Path, opened: list[DoubleOfASession]) -> None:
    runner, job = a_runner(tmp_path)
    with runner.cluster_for(job):
        opened[0].since_s -= SHARED_FOR_S + 1
        with runner.cluster_for(job) as other:
            assert other is cast(ManagedCluster, opened[1])
        assert not opened[0].closed
        assert not opened[1].closed
    assert opened[0].closed
    assert not opened[1].closed


def test_what_stays_up_is_never_too_old(tmp_path: Path, opened: list[DoubleOfASession]) -> None:
    runner, job = a_runner(tmp_path)
    with runner.cluster_for(job):
        opened[0].since_s -= SHARED_FOR_S + 1
        opened[0].shared = True
    with runner.cluster_for(job):
        assert len(opened) == 1


def test_a_cluster_that_failed_is_given_up(tmp_path: Path, opened: list[DoubleOfASession]) -> None:
    runner, job = a_runner(tmp_path)
    with runner.cluster_for(job):
        opened[0].failed = True
        with runner.cluster_for(job):
            assert len(opened) == 2
            assert not opened[0].closed, "a run is on it yet"
    assert [double_of_asession.closed for double_of_asession in opened] == [True, False]


def test_scenarios_of_one_kind_share_a_cluster_and_the_one_unused_longest_makes_room(
    tmp_path: Path, opened: list[DoubleOfASession]
) -> None:
    runner, other_job = a_runner(tmp_path)
    jobs = [
        runner.job(scenario(f"cluster: {{broker: {{number: {number}}}}}"))
        for number in range(SHARED_CLUSTERS_AT_MOST)
    ]
    with runner.cluster_for(jobs[0]) as first, runner.cluster_for(jobs[0]) as again:
        assert first is again
        for job in jobs[1:]:
            with runner.cluster_for(job):
                pass
        with runner.cluster_for(other_job):  # one too many: the second goes, for the first is in use
            assert [double_of_asession.closed for double_of_asession in opened] == [
                False,
                True,
                *[False] * (SHARED_CLUSTERS_AT_MOST - 1),
            ]
    with runner.cluster_for(runner.job(scenario("cluster: {own: true}"))):
        assert len(opened) == SHARED_CLUSTERS_AT_MOST + 2
    assert opened[-1].closed
    runner.close()
    assert all(double_of_asession.closed for double_of_asession in opened)


def test_a_cluster_ends_with_the_last_run_that_was_to_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[DoubleOfASession]
) -> None:
    open_ones: list[int] = []
    monkeypatch.setattr(Runner, "fetch", lambda *_unused: None)

    def run(runner: Runner, job: Job, _turn: object) -> None:
        with runner.cluster_for(job):
            open_ones.append(sum(not double_of_asession.closed for double_of_asession in opened))

    monkeypatch.setattr(Runner, "run", run)
    item, other = scenario(), scenario("cluster: {broker: {number: 1}}")
    runner, _ = a_runner(tmp_path)
    jobs = [Job(each, version) for each in (item, other, item) for version in ("4.9.4", "5.5.0")]
    assert len(list(runner.run_all(jobs, 1))) == 6
    assert open_ones == [1, 2, 3, 3, 2, 1]
    assert all(each.closed for each in opened)


def test_interrupted_runs_leave_no_cluster(tmp_path: Path, opened: list[DoubleOfASession]) -> None:
    runner, job = a_runner(tmp_path)
    with runner.cluster_for(job):
        opened[0].since_s -= SHARED_FOR_S + 1
        with runner.cluster_for(job):
            runner.close()
            assert all(double_of_asession.closed for double_of_asession in opened)


def test_the_last_run_that_was_to_come_ends_also_the_cluster_that_followed_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[DoubleOfASession]
) -> None:
    monkeypatch.setattr(Runner, "fetch", lambda *_unused: None)

    def run(runner: Runner, job: Job, _turn: object) -> None:
        if not opened:
            with runner.cluster_for(job):
                opened[0].since_s -= SHARED_FOR_S + 1
                with runner.cluster_for(job):  # the second run, beside the first
                    pass

    monkeypatch.setattr(Runner, "run", run)
    runner, job = a_runner(tmp_path)
    assert len(list(runner.run_all([job, job], 1))) == 2
    assert [double_of_asession.closed for double_of_asession in opened] == [True, True]


def test_runs_on_a_rare_kind_of_cluster_follow_each_other() -> None:
    usual, rare, rarer = (("5.5.0", "compressed", shape) for shape in ("usual", "rare", "rarer"))
    kinds = [usual, rare, None, usual, rarer, rare, usual]
    assert order_of(kinds, [False] * 7) == [0, 1, 5, 2, 3, 4, 6]
    assert order_of(kinds, [False, False, True, False, False, False, True]) == [2, 6, 0, 1, 5, 3, 4]
    assert order_of([None, None], [False, True]) == [1, 0]
    assert order_of([], []) == []
