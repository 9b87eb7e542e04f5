"""Checks that are measured and never judged, and checks that speak against a claim."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.assertions.judge import judge
from rocketchaos.harness.core.model import Finding, Holds, Outcome, OutcomeKind
from rocketchaos.harness.language.repetition import Repeats, half_width
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.document import document
from rocketchaos.harness.reporting.parts.findings import claim_text
from rocketchaos.harness.reporting.parts.verdict import failing_findings, is_counterpart, need_not_hold
from tests.unit.history_builder import EIGHT_MESSAGES, eight_messages, scenario_of

SOMETIMES = """\
tendency:
  - delivered: {to: a, count: 4, claim: A02}
  - delivered: {to: b, count: 4, claim: A06}
"""


def judged(text: str) -> Outcome:
    """The outcome of the eight messages, of which b gets four."""
    _, events = eight_messages()
    return judge(scenario_of(text), events)


def test_what_is_measured_changes_no_outcome() -> None:
    plain, measured = judged(EIGHT_MESSAGES), judged(EIGHT_MESSAGES + SOMETIMES)
    assert (measured.kind, measured.as_expected) == (OutcomeKind.REPRODUCED, True)
    assert measured.reason == plain.reason
    assert measured.findings[: len(plain.findings)] == plain.findings
    found = [
        (finding.section, finding.claim, finding.holds)
        for finding in measured.findings[len(plain.findings) :]
    ]
    assert found == [("tendency", "A02", Holds.NO), ("tendency", "A06", Holds.YES)]


def test_in_also_the_same_check_would_be_judged() -> None:
    moved = EIGHT_MESSAGES.replace("also:\n", "also:\n  - delivered: {to: a, count: 4, claim: A02}\n")
    assert judged(moved).as_expected is False


def test_a_tendency_that_does_not_hold_speaks_against_no_run(tmp_path: Path) -> None:
    text = (EIGHT_MESSAGES + SOMETIMES).replace("expected: reproduced", "expected: not-reproduced")
    report = Report(scenario_of(text), judged(text), (), {}, tmp_path)
    assert report.outcome.wrong
    assert {failing_finding.section for failing_finding in failing_findings(report)} == {"healthy"}
    assert need_not_hold(report, "tendency")
    assert not is_counterpart(report, "tendency")


@pytest.mark.parametrize(
    ("claim", "refutes", "text"),
    [
        (None, None, ""),
        ("A01", None, " [A01]"),
        (None, "A07", " [refutes A07]"),
        ("A01", "A07", " [A01, refutes A07]"),
    ],
)
def test_what_a_check_says_of_claims_is_reported(claim: str | None, refutes: str | None, text: str) -> None:
    assert claim_text(Finding("also", "track", Holds.YES, "", "", (), claim, refutes)) == text


def test_what_a_check_refutes_is_in_its_finding_and_in_the_document(tmp_path: Path) -> None:
    text = EIGHT_MESSAGES.replace("undelivered: {", "undelivered: {refutes: B08, ")
    outcome = judged(text)
    assert [finding.refutes for finding in outcome.findings if finding.refutes] == ["B08"]
    checks = document([Report(scenario_of(text), outcome, (), {}, tmp_path)])["runs"][0]["checks"]
    assert [check["refutes"] for check in checks] == [finding.refutes for finding in outcome.findings]


@pytest.mark.parametrize(
    ("runs", "shares", "enough"),
    [
        (19, [(19, 19)], False),
        (20, [(20, 20)], True),
        (20, [(20, 20), (10, 20)], False),
        (40, [(40, 40), (20, 40)], True),
        (20, [(0, 0)], False),
        (100, [(0, 0)], True),
    ],
)
def test_runs_go_on_until_every_share_is_known_well_enough(
    runs: int, shares: list[tuple[int, int]], enough: bool
) -> None:
    assert Repeats(at_least=20, until_half_width=0.15, at_most=100).is_enough(runs, shares) is enough


def test_how_often_a_scenario_is_run() -> None:
    once, race = scenario_of(EIGHT_MESSAGES), scenario_of(EIGHT_MESSAGES + SOMETIMES)
    assert once.repetition.is_enough(1, [])
    assert race.repetition == Repeats()
    own = scenario_of(EIGHT_MESSAGES + SOMETIMES + "repeats: {at_least: 3, at_most: 5}\n")
    assert (own.repetition.at_least, own.repetition.at_most) == (3, 5)
    assert half_width(10, 20) == pytest.approx(0.2009, abs=1e-3)
