"""Times as PySpark gives them."""

from __future__ import annotations

from datetime import UTC, datetime


def in_utc(seen: datetime | None) -> datetime | None:
    """The moment in UTC: PySpark gives times as this machine's, without saying so."""
    return None if seen is None else seen.astimezone(UTC)
