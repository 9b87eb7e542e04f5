"""Recorded histories of real runs: each shows what it is known to show, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.nightly.findings import findings
from harness.reporters.folder import load_report

RUNS = Path(__file__).parents[2] / "golden" / "runs"
DROPPED = "wanted-but-not-delivered: filtered-by-client"
STRANDED = "wanted-but-not-delivered: stranded"
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


def test_the_same_history_gives_the_same_findings() -> None:
    report = load_report(RUNS / "same-group-different-topics")
    told = [findings(report.scenario, report.events, report.outcome) for _ in range(2)]
    assert told[0] == told[1]
    assert all(one.breach.events for one in told[0])
