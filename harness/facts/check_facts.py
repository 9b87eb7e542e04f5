"""What was expected, and what was seen: `CheckFact`."""

from __future__ import annotations

from collections.abc import Iterator

from rocketchaos.harness.facts.documents import ChecksDocument
from rocketchaos.harness.facts.kinds import CheckFact


def check_facts(checks: ChecksDocument) -> Iterator[CheckFact]:
    """All of a run."""
    for position, one in enumerate(checks.checks):
        yield CheckFact(
            position=position,
            section=one.section,
            id=one.id,
            name=one.name,
            holds=one.holds,
            expected=one.expected,
            observed=one.observed,
            claim=one.claim,
            line=one.line,
            events=one.events or (),
        )
