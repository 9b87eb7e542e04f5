"""How `rocketchaos claims run` ends, by what its runs say; without a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.claims.evidence import RunSeen
from rocketchaos.harness.cli.main import main
from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode, RocketchaosError, UsageProblem
from rocketchaos.harness.core.model import Holds, OutcomeKind
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.jars.releases import Need
from tests.unit.claims.golden import again, answering, golden

KILL = golden("kill-flips-the-subscription")
FAILED = replace(
    KILL, run="kill/2", outcome=OutcomeKind.ERROR, not_counted="error: broker-a could not be started"
)
UNCLEAR = replace(
    KILL, run="kill/3", outcome=OutcomeKind.INCONCLUSIVE, not_counted="inconclusive: neither list holds"
)


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> dict[Need, RocketchaosError]:
    """What can't be had."""
    found: dict[Need, RocketchaosError] = {}
    monkeypatch.setattr(Runner, "absences", lambda *_arguments: found)
    return found


@pytest.fixture
def runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, absent: dict[Need, RocketchaosError]
) -> list[RunSeen | BaseException]:
    """What the runs show, or what ends the command, in order."""
    found: list[RunSeen | BaseException] = []

    def run_rounds(*_arguments: Any) -> Iterator[RunSeen]:
        for run_seen in found:
            if isinstance(run_seen, BaseException):
                raise run_seen
            yield run_seen

    monkeypatch.setattr("rocketchaos.harness.cli.claims.run_rounds", run_rounds)
    monkeypatch.chdir(tmp_path)
    return found


def claims_run(versions: str = "4.9.4") -> int:
    return main(["claims", "run", "--rocketmq", versions, "--only", "A05"])


def test_verdicts_as_expected(
    runs: list[RunSeen | BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    runs += [KILL, FAILED]
    assert claims_run() == ExitCode.AS_EXPECTED
    shown = capsys.readouterr().out
    assert "A05    confirmed (1)" in shown
    assert "A01" not in shown, "a claim that wasn't asked for"
    assert "not counted: kill/2 on 4.9.4: error: broker-a could not be started" in shown


def test_a_verdict_that_is_not_the_expected_one(
    runs: list[RunSeen | BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    runs.append(again(KILL, 1, answering("A05", Holds.NO)))
    assert claims_run() == ExitCode.NOT_AS_EXPECTED
    assert "not as expected: A05 on 4.9.4: not observed, expected confirmed: " in capsys.readouterr().out


def test_a_claim_of_which_the_runs_show_nothing(runs: list[RunSeen | BaseException]) -> None:
    runs.append(UNCLEAR)
    assert claims_run() == ExitCode.INCONCLUSIVE


def test_nothing_but_errors(runs: list[RunSeen | BaseException]) -> None:
    runs += [FAILED, replace(FAILED, run="kill/4")]
    assert claims_run() == ExitCode.ENVIRONMENT


def test_a_version_that_can_t_be_had_is_left_out_and_the_rest_runs(
    runs: list[RunSeen | BaseException],
    absent: dict[Need, RocketchaosError],
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs.append(KILL)
    absent[Need("4.9.99")] = UsageProblem("there is no RocketMQ 4.9.99", "The nearest versions: 4.9.7.")
    assert claims_run("4.9.99,4.9.4") == ExitCode.USAGE
    shown = capsys.readouterr()
    assert "A05            confirmed (1)" in shown.out
    assert "left out: java on RocketMQ 4.9.99: there is no RocketMQ 4.9.99. The nearest" in shown.err


def test_where_no_version_can_be_had_nothing_runs(
    runs: list[RunSeen | BaseException],
    absent: dict[Need, RocketchaosError],
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs.append(KILL)
    absent[Need("4.9.4")] = EnvironmentNotReady("RocketMQ 4.9.4 is not in the cache, and there is no network")
    assert claims_run() == ExitCode.ENVIRONMENT
    assert capsys.readouterr().err.endswith("4.9.4 is not in the cache, and there is no network\n")


def test_what_is_known_is_reported_also_where_the_user_ends_it(
    runs: list[RunSeen | BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    runs += [KILL, KeyboardInterrupt()]
    assert claims_run() == ExitCode.INTERRUPTED
    assert "A05    confirmed (1)" in capsys.readouterr().out


def test_broken_expectations_are_reported_before_anything_runs(
    runs: list[RunSeen | BaseException], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runs.append(AssertionError("it ran"))
    monkeypatch.setattr("rocketchaos.harness.claims.expected_verdicts.scenarios_folder", lambda: tmp_path)
    assert claims_run() == ExitCode.USAGE
