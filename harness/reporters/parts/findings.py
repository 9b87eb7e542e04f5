"""Findings as plain text, for build servers and annotations."""

from __future__ import annotations

from harness.model import Finding, Holds
from harness.reporters.base import Report
from harness.reporters.parts.text import event_numbers, one_line
from harness.reporters.parts.verdict import failing_findings

ANSWERS = {Holds.YES: "holds", Holds.NO: "does not hold", Holds.UNKNOWN: "can't be said"}
"""What a check's answer is called."""


def finding_lines(run: Report) -> list[str]:
    """Three lines for each finding that keeps the run from being as expected."""
    return [line for finding in failing_findings(run) for line in _lines(finding)]


def _lines(finding: Finding) -> list[str]:
    proof = event_numbers(finding.events)
    claim = f" [{finding.claim}]" if finding.claim else ""
    return [
        one_line(f"{finding.section}: {finding.name}{claim}: {ANSWERS[finding.holds]}"),
        "  expected: " + one_line(finding.expected),
        "  observed: " + one_line(finding.observed + (f" ({proof})" if proof else "")),
    ]
