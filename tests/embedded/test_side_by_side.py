"""Many runs on one real cluster, their clients in shared JVMs."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from rocketchaos.harness.core.model import Event, OutcomeKind, Trouble
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.live import LiveRun
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.scenario import load_scenario, parse_scenario
from tests.embedded.caches import cache
from tests.embedded.command import ROOT, started
from tests.embedded.test_endings import PATIENT, Command, nothing_left
from tests.waiting import until

pytestmark = pytest.mark.embedded
TAGS = ROOT / "scenarios" / "tags"
MISMATCH = load_scenario(TAGS / "same-group-different-tags.scenario.yaml")
CONTROL = load_scenario(TAGS / "same-group-same-tags.scenario.yaml")
KILL = load_scenario(ROOT / "scenarios" / "kills" / "kill-flips-the-subscription.scenario.yaml")
PATIENT_SCENARIO = parse_scenario(PATIENT, "patient.scenario.yaml")


@pytest.fixture(scope="module")
def runner(shared_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """On the shared cluster, with JVMs for its own runs alone."""
    options = Options(runs=tmp_path_factory.mktemp("runs"))
    with cache(shared_cache), Runner(options) as runner:
        yield runner


def of_kind(events: Any, kind: str) -> list[Event]:
    return [event for event in events if event.kind == kind]


def homes(report: Report) -> set[tuple[str, int]]:
    """How and where the run's consumers lived."""
    return {
        (event.data["process"], event.data["pid"]) for event in of_kind(report.events, "consumer-started")
    }


@pytest.mark.extended
def test_runs_of_the_same_names_share_jvms_and_nothing_else(runner: Runner) -> None:
    reports = list(runner.run_all([runner.job(item) for item in [MISMATCH, CONTROL] * 4], parallel=8))
    assert [report.outcome.kind.value for report in reports] == ["reproduced", "not-reproduced"] * 4
    assert all(report.outcome.as_expected for report in reports)
    everywhere = set().union(*map(homes, reports))
    assert {process for process, _ in everywhere} == {"shared"}
    assert len(everywhere) == 2, "eight runs, two processes"
    for report in reports:
        assert len(homes(report)) == 2, "the members of a group live apart"
        sent = {event.data["msg_id"] for event in of_kind(report.events, "sent")}
        received = [event.data["msg_id"] for event in of_kind(report.events, "received")]
        assert len(sent) == 8
        assert set(received) <= sent
        assert len(received) == len(set(received)) == (4 if report.scenario is MISMATCH else 8)
        assert {event.node for event in of_kind(report.events, "received")} <= {"a", "b"}
        parallel = report.record["parallel"]
        assert (parallel["chosen"], parallel["limit"]) == (8, 8.0)
        assert report.record["load"]["busy_share"] is not None
        logs = list((report.folder / "logs").glob("shared-*/*.log"))
        assert len(logs) == 2, "what the shared logs say of this run"
        for other in reports:
            if other is not report:
                assert not any(other.record["run"] in log.read_text() for log in logs)
    assert max(report.record["parallel"]["beside"] for report in reports) >= 4
    workers = runner._processes_of("compressed").workers
    until(lambda: workers.run_count() == 0, 5)
    assert {pid for _, pid in everywhere} == set(workers.pids), "the processes outlive the runs"


def test_a_kill_gets_processes_of_its_own(runner: Runner) -> None:
    report = runner.run(runner.job(KILL))
    assert report.outcome.as_expected
    assert {process for process, _ in homes(report)} == {"own"}
    assert not {pid for _, pid in homes(report)} & set(runner._processes_of("compressed").workers.pids)


@pytest.mark.extended
def test_the_death_of_a_shared_jvm_is_an_error_of_the_runs_in_it_alone(runner: Runner) -> None:
    workers = runner._processes_of("compressed").workers
    with (
        LiveRun(runner, "beside", "a run with processes of its own") as beside,
        ThreadPoolExecutor() as pool,
    ):
        beside.topic("orders", queues=4)
        beside.consumer("a", group="g", subscribe={"orders": "tagA"})
        beside.start("a")
        struck = [pool.submit(runner.run, runner.job(PATIENT_SCENARIO)) for _ in range(2)]
        until(lambda: sum(1 for host in workers._hosts for _ in host.leases) >= 6)
        folders = until(lambda: len(found := list(runner.options.runs.glob("patient/2*"))) == 2 and found)
        until(lambda: all(b'"sent"' in (folder / "events.jsonl").read_bytes() for folder in folders))
        victims = workers.pids
        for pid in victims:
            psutil.Process(pid).kill()
        for report in (future.result(60) for future in struck):
            assert (report.outcome.kind, report.outcome.trouble) == (OutcomeKind.ERROR, Trouble.ENVIRONMENT)
            assert "signal SIGKILL" in report.outcome.reason
            assert "shared with other runs" in report.outcome.reason
            assert list((report.folder / "logs").glob("shared-*.log"))
        beside.send(topic="orders", tag="tagA", count=4, per_queue=1)
        beside.settle(offsets="g", topic="orders", within="60s")
        beside.check.delivered(to="a", count=4)
    report = runner.run(runner.job(MISMATCH))
    assert report.outcome.as_expected
    assert not {pid for _, pid in homes(report)} & set(victims)


@pytest.mark.nightly
@pytest.mark.extended
def test_an_interruption_ends_all_runs_each_judged(tmp_path: Path) -> None:
    for number in range(6):
        text = PATIENT.replace("name: patient", f"name: patient-{number}")
        (tmp_path / f"{number}.scenario.yaml").write_text(text)
    process = started("run", tmp_path, "--parallel", "4", "--runs", tmp_path / "runs", cwd=tmp_path)
    command = Command(process, tmp_path / "runs")
    try:
        command.until(lambda: command.events().count("sent") >= 16, 120)
        process.send_signal(signal.SIGINT)
        said = command.ended(30)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
        nothing_left(command)
    assert process.returncode == 130
    assert "Traceback" not in said
    outcomes = [
        json.loads((path / "outcome.json").read_text()) for path in (tmp_path / "runs").glob("patient-*/2*")
    ]
    assert len(outcomes) == 4, "the other two never began"
    assert {(outcome["outcome"], outcome["trouble"]) for outcome in outcomes} == {
        ("inconclusive", "interrupted")
    }
