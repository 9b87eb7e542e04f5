"""Recorded histories of real runs: each shows what it is known to show, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rocketchaos.assertions import CHECKS
from rocketchaos.assertions.judge import judge
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Event, Holds
from rocketchaos.harness.nightly.findings import findings, why_not_judged
from rocketchaos.harness.nightly.invariants.base import Checks
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.folder import load_report

RUNS = Path(__file__).parents[2] / "golden" / "runs"
DROPPED = "wanted-but-not-delivered-filtered-by-client-"
STRANDED = "wanted-but-not-delivered-stranded-"
LOOKS_FOR_LINES = "refused-on-and-on"
"""Stated by lines of a log, which a run has only where its own checks ask for the same."""
SHOWS = {
    "consumed-and-nobody-got-it": {DROPPED},
    "different-strategies-in-one-group": {STRANDED, "several-owners-allocation"},
    "kill-flips-the-subscription": {DROPPED},
    "kill-of-the-other": {DROPPED},
    "same-group-different-tags": {DROPPED},
    "same-group-different-tags-other-order": {DROPPED},
    "same-group-different-topics": {STRANDED, "refused-on-and-on-not-exist-"},
    "same-tags-but-one-differs": {DROPPED},
    "sql92-only-the-broker-filters": {"wanted-but-not-delivered-filtered-by-broker-"},
}


@pytest.mark.parametrize("run", sorted(RUNS.iterdir()), ids=lambda run: str(run.name))
def test_a_recorded_run_shows_what_it_is_known_to_show(run: Path) -> None:
    report = load_report(run)
    found = {finding.code for finding in findings(report.scenario, report.events, report.outcome)}
    wanted = SHOWS.get(run.name, set())
    assert len(found) == len(wanted)
    assert all(any(item.startswith(start) for item in found) for start in wanted), found


@pytest.mark.parametrize("run", sorted(SHOWS))
def test_the_checks_that_state_a_finding_hold_in_the_run_that_shows_it(run: str) -> None:
    report = load_report(RUNS / run)
    view = RunView(report.scenario, report.events)
    for finding in findings(report.scenario, report.events, report.outcome):
        if finding.kind != LOOKS_FOR_LINES:
            assert answers(finding.breach.anomaly, view) == {Holds.YES}, finding.signature
            assert answers(finding.breach.healthy, view) == {Holds.NO}, finding.signature


def answers(checks: Checks, view: RunView) -> set[Holds]:
    return {CHECKS[word](**said).evaluate(view).holds for check in checks for word, said in check.items()}


def jumped(report: Report, jump_ms: int) -> list[Event]:
    """The run's events, with another wall clock from the middle on."""
    middle = len(report.events) // 2
    return [*report.events[:middle], *(later(event, jump_ms) for event in report.events[middle:])]


@pytest.mark.parametrize("run", sorted(RUNS.iterdir()), ids=lambda run: str(run.name))
def test_a_wall_clock_that_is_set_right_by_a_little_makes_no_finding(run: Path) -> None:
    report = load_report(run)
    events = jumped(report, -1_234)
    found = {finding.code for finding in findings(report.scenario, events, judge(report.scenario, events))}
    assert found <= {finding.code for finding in findings(report.scenario, report.events, report.outcome)}


@pytest.mark.parametrize(
    ("jump_ms", "text"), [(-3_600_000, "3600.0 s"), (2_500, "2.5 s"), (86_400_000, "86400.0 s")]
)
@pytest.mark.parametrize("run", sorted(SHOWS))
def test_a_run_in_which_the_wall_clock_jumps_says_nothing(run: str, jump_ms: int, text: str) -> None:
    report = load_report(RUNS / run)
    events = jumped(report, jump_ms)
    outcome = judge(report.scenario, events)
    assert findings(report.scenario, events, outcome) == []
    assert why_not_judged(outcome, events) == f"the machine's clock jumped by {text}"
    assert why_not_judged(report.outcome, report.events) is None


def test_only_the_clocks_of_the_harness_are_held_against_each_other() -> None:
    # What others saw has their times, and comes with a delay.
    report = load_report(RUNS / "same-group-different-tags")
    events = [later(event, 5_000) if event.node == "producer" else event for event in report.events]
    assert why_not_judged(report.outcome, events) is None


def later(event: Event, jump_ms: int) -> Event:
    return replace(event, wall_ms=event.wall_ms + jump_ms)


def test_the_same_history_gives_the_same_findings() -> None:
    report = load_report(RUNS / "same-group-different-topics")
    found = [findings(report.scenario, report.events, report.outcome) for _ in range(2)]
    assert found[0] == found[1]
    assert all(item.breach.events for item in found[0])
