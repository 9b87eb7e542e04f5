"""The result of an ingest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """Counts of run folders; each that was seen is in one of the others."""

    seen: int = 0
    ingested: int = 0
    """Their runs are new in the store."""
    replaced: int = 0
    """Their runs were there, judged otherwise: they were judged again."""
    unchanged: int = 0
    """Their runs are in the store as they are, or in a later copy."""
    quarantined: Mapping[str, int] = field(default_factory=dict)
    """Kind of reason: how many folders, also those that were quarantined before and are as they were."""
    released: int = 0
    """They were quarantined before, and are gone; none of them was seen."""
    aged: int = 0
    """They are older than what the store keeps, and were skipped."""
    messages: int = 0
    """Of the ingested and the replaced runs."""
    seconds: float = 0.0

    def __add__(self, other: IngestSummary) -> IngestSummary:
        return IngestSummary(
            seen=self.seen + other.seen,
            ingested=self.ingested + other.ingested,
            replaced=self.replaced + other.replaced,
            unchanged=self.unchanged + other.unchanged,
            quarantined=dict(sorted((Counter(self.quarantined) + Counter(other.quarantined)).items())),
            released=self.released + other.released,
            aged=self.aged + other.aged,
            messages=self.messages + other.messages,
            seconds=self.seconds + other.seconds,
        )
