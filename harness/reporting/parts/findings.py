"""Findings as plain text, for build servers and annotations."""

from rocketchaos.harness.core.model import Finding, Holds
from rocketchaos.harness.core.text import event_numbers, one_line
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.verdict import failing_findings

ANSWERS = {Holds.YES: "holds", Holds.NO: "does not hold", Holds.UNKNOWN: "can't be said"}
"""The word for a check's answer."""


def claim_text(finding: Finding) -> str:
    """` [A01]` behind the name of a check that carries a claim, ` [refutes A07]`; empty if it does neither."""
    parts = [finding.claim or "", f"refutes {finding.refutes}" if finding.refutes else ""]
    return f" [{', '.join(filter(None, parts))}]" if any(parts) else ""


def finding_lines(run: Report) -> list[str]:
    """Three lines for each finding that keeps the run from being as expected."""
    return [line for finding in failing_findings(run) for line in _lines(finding)]


def _lines(finding: Finding) -> list[str]:
    proof = event_numbers(finding.events)
    return [
        one_line(f"{finding.section}: {finding.name}{claim_text(finding)}: {ANSWERS[finding.holds]}"),
        "  expected: " + one_line(finding.expected),
        "  observed: " + one_line(finding.observed + (f" ({proof})" if proof else "")),
    ]
