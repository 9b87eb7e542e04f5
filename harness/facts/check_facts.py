"""What was expected, and what was seen: `CheckFact`."""

from collections.abc import Iterator

from rocketchaos.harness.facts.documents import ChecksDocument
from rocketchaos.harness.facts.kinds import CheckFact


def check_facts(checks: ChecksDocument) -> Iterator[CheckFact]:
    """All of a run."""
    for position, check in enumerate(checks.checks):
        yield CheckFact(
            position=position,
            section=check.section,
            id=check.id,
            name=check.name,
            holds=check.holds,
            expected=check.expected,
            observed=check.observed,
            claim=check.claim,
            line=check.line,
            events=check.events or (),
        )
