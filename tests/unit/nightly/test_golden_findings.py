"""Recorded histories of real runs: each shows what it is known to show, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assertions import CHECKS
from assertions.judge import judge
from assertions.view import RunView
from harness.model import Event, Holds
from harness.nightly.findings import findings
from harness.nightly.invariants.base import Checks
from harness.reporters.folder import load_report

RUNS = Path(__file__).parents[2] / "golden" / "runs"
DROPPED = "wanted-but-not-delivered: filtered-by-client"
STRANDED = "wanted-but-not-delivered: stranded"
LOOKS_FOR_LINES = "refused-on-and-on"
"""Stated by lines of a log, which a run has only where its own checks ask for the same."""
SHOWS = {
    "consumed-and-nobody-got-it": {DROPPED},
    "different-strategies-in-one-group": {STRANDED, "several-owners: the members differ in their allocation"},
    "kill-flips-the-subscription": {DROPPED},
    "kill-of-the-other": {DROPPED},
    "same-group-different-tags": {DROPPED},
    "same-group-different-tags-other-order": {DROPPED},
    "same-group-different-topics": {STRANDED, "refused-on-and-on: subscription not exist"},
    "same-tags-but-one-differs": {DROPPED},
}


@pytest.mark.parametrize("run", sorted(RUNS.iterdir()), ids=lambda run: str(run.name))
def test_a_recorded_run_shows_what_it_is_known_to_show(run: Path) -> None:
    report = load_report(run)
    found = {one.signature for one in findings(report.scenario, report.events, report.outcome)}
    wanted = SHOWS.get(run.name, set())
    assert len(found) == len(wanted)
    assert all(any(one.startswith(start) for one in found) for start in wanted), found


@pytest.mark.parametrize("run", sorted(SHOWS))
def test_the_checks_that_state_a_finding_hold_in_the_run_that_shows_it(run: str) -> None:
    report = load_report(RUNS / run)
    view = RunView(report.scenario, report.events)
    for one in findings(report.scenario, report.events, report.outcome):
        if one.kind != LOOKS_FOR_LINES:
            assert answers(one.breach.anomaly, view) == {Holds.YES}, one.signature
            assert answers(one.breach.healthy, view) == {Holds.NO}, one.signature


def answers(checks: Checks, view: RunView) -> set[Holds]:
    return {CHECKS[word](**said).evaluate(view).holds for check in checks for word, said in check.items()}


@pytest.mark.parametrize("jump_ms", [-3_600_000, -1_234, 86_400_000])
@pytest.mark.parametrize("run", sorted(RUNS.iterdir()), ids=lambda run: str(run.name))
def test_a_wall_clock_that_jumps_in_the_middle_makes_no_finding(run: Path, jump_ms: int) -> None:
    report = load_report(run)
    middle = len(report.events) // 2
    jumped = [*report.events[:middle], *(later(event, jump_ms) for event in report.events[middle:])]
    outcome = judge(report.scenario, jumped)
    found = {one.signature for one in findings(report.scenario, jumped, outcome)}
    assert found <= {one.signature for one in findings(report.scenario, report.events, report.outcome)}


def later(event: Event, jump_ms: int) -> Event:
    return replace(event, wall_ms=event.wall_ms + jump_ms)


def test_the_same_history_gives_the_same_findings() -> None:
    report = load_report(RUNS / "same-group-different-topics")
    told = [findings(report.scenario, report.events, report.outcome) for _ in range(2)]
    assert told[0] == told[1]
    assert all(one.breach.events for one in told[0])
