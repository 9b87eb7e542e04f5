"""Times as PySpark gives them."""

from datetime import UTC, datetime


def in_utc(seen: datetime | None) -> datetime | None:
    """The time in UTC: PySpark returns times in this machine's zone, without a zone."""
    return None if seen is None else seen.astimezone(UTC)
