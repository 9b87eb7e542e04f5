"""Nightly chaos on a real RocketMQ: a planted loss is found, and its honest control finds nothing."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketchaos.harness.cli import main as cli
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.events.servers import FaultEffective
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.nightly.findings import NightlyFinding, findings, why_not_judged
from rocketchaos.harness.nightly.generator import scenario_of
from rocketchaos.harness.nightly.nightly_run import judged_run
from rocketchaos.harness.nightly.profile import Profile, read_profile
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.workers.worker_kinds import KINDS

pytestmark = [pytest.mark.embedded, pytest.mark.extended]

KILLS = Profile.model_validate(
    {
        "consistent": "only",
        "dimensions": {
            "groups": {"1": 1},
            "topics": {"1": 1},
            "members": {"2": 1},
            "late": {"0": 1},
            "expression": {"*": 1},
            "filter": {"tags": 1},
            "client": {"java push": 1},
            "listener": {"concurrent": 1},
            "behaviour": {"succeed": 1},
            "brokers": {"1": 1},
            "operations": {"1": 1},
        },
        "operations": {"kill": 1},
        "triggers": {"flow": 1},
    }
)
SEED, SCENARIOS = 3, (1, 2, 3)


def found_by(runs: Path) -> Iterator[NightlyFinding]:
    with Runner(Options(runs=runs)) as runner:
        for number in SCENARIOS:
            report = runner.run(runner.job(scenario_of(SEED, number, KILLS)))
            assert why_not_judged(report.outcome, report.events) is None, report.outcome.reason
            yield from findings(report.scenario, report.events, report.outcome)


@pytest.mark.nightly
@pytest.mark.usefixtures("on_shared_cluster")
def test_a_consumer_that_acknowledges_before_it_processes_loses_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasty = dataclasses.replace(KINDS["java"], module="tests.embedded.hasty_child")
    monkeypatch.setattr("rocketchaos.harness.workers.processes.KINDS", {**KINDS, "java": hasty})
    codes = {item.code for item in found_by(tmp_path)}
    assert "lost-agree" in codes


@pytest.mark.nightly
@pytest.mark.usefixtures("on_shared_cluster")
def test_an_honest_one_under_the_same_kills_loses_nothing(tmp_path: Path) -> None:
    assert list(found_by(tmp_path)) == []


@pytest.mark.nightly
def test_a_night_finds_what_a_mismatch_loses_and_ends_in_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = tmp_path / "profile.yaml"
    profile.write_text(
        "dimensions: {operations: {'0': 1}, groups: {'1': 1}, subscriptions: {own: 1}, members: {'2': 1}, "
        "late: {'0': 1}}\n"
    )
    words = ["--minutes", "1", "--seed", "7", "--profile", str(profile), "--runs", str(tmp_path / "runs")]
    began = time.monotonic()
    code = cli.main(["nightly", *words, "--json"])
    assert time.monotonic() - began < 65  # with all that is to be started and ended around its minute
    status = json.loads(capsys.readouterr().out)
    assert code == status["exit_code"] == ExitCode.NOT_AS_EXPECTED
    assert status["took_s"] < 60
    assert {load["kind"] for load in status["findings"]} >= {"wanted-but-not-delivered"}
    assert status["scenarios"]["judged"] == status["scenarios"]["run"] > 1
    assert json.loads((tmp_path / "runs" / "nightly-status.json").read_text())["seed"] == 7


SERVICE = """\
service:
  group: g
  subscribe: {orders: tagA}
  app: {jar: wayward.jar, args: [$nameserver, plain]}
dimensions:
  members: {"2": 1}
  late: {"0": 1}
  messages: {"2": 1}
  brokers: {"1": 1}
  operations: {"1": 1}
operations: {kill: 1}
triggers: {flow: 1}
"""


@pytest.mark.nightly
def test_a_night_s_service_is_killed_loses_nothing_and_is_run_again_from_elsewhere(
    tmp_path: Path, wayward: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Paths start at the profile's folder, which is named relatively here, and so is that of the run."""
    shop, elsewhere = tmp_path / "shop", tmp_path / "elsewhere"
    for folder in (shop, elsewhere):
        folder.mkdir()
    (shop / "wayward.jar").symlink_to(wayward)
    (shop / "night.yaml").write_text(SERVICE)
    monkeypatch.chdir(tmp_path)
    with Runner(Options(runs=Path("runs"))) as runner:
        report = runner.run(runner.job(scenario_of(SEED, 1, read_profile(Path("shop/night.yaml")))))
    run = judged_run(1, report, 1)
    assert (run.not_judged, run.findings, run.observed) == (None, (), ())
    assert [event.body.fault for event in report.events if isinstance(event.body, FaultEffective)] == ["kill"]

    monkeypatch.chdir(elsewhere)
    cli.main(["reproduce", str(tmp_path / report.folder), "--json"])
    (again,) = json.loads(capsys.readouterr().out)["runs"]
    assert again["trouble"] is None, again["reason"]
