"""The two sets of runs that a diff compares, by time or by the newest ingest."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.spark_reports.store_views import NEWEST_INGEST, SIDES, view

LAST = "LAST"
"""The word for the newest ingest."""
_AGE = re.compile(r"(\d{1,5})(h|d)")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENTS = f"{LAST}, an age such as 12h or 7d, or a time such as 2026-03-01 or 2026-03-01T20:00 (UTC)"
_NIGHTS = "a day such as 2026-03-01 (UTC), or FROM/TO such as 2026-03-01T20:00/2026-03-02T08:00"


@dataclass(frozen=True, slots=True)
class Sides:
    """Two sets of runs."""

    before: str
    """In words."""
    after: str
    sql: str
    """The view `sides`: which run is on which side."""

    @property
    def statement(self) -> str:
        """The SQL statement that makes that view."""
        return view(SIDES, self.sql)


NEWEST = Sides("all runs before it", "the newest ingest", NEWEST_INGEST)
"""The runs that the newest ingest brought, or brought again, against all others."""


def since(moment: str, now: datetime | None = None) -> Sides:
    """All runs since a moment against all before it.

    Args:
        moment: `LAST`, `7d`, `12h`, or a time in ISO 8601, in UTC where it doesn't say otherwise.
        now: from which an age is counted.

    Raises:
        UsageProblem: it is none of these.
    """
    if moment == LAST:
        return NEWEST
    age = _AGE.fullmatch(moment)
    if age is not None:
        hours = int(age[1]) * (24 if age[2] == "d" else 1)
        at = (now or datetime.now(UTC)) - timedelta(hours=hours)
    else:
        at = _time(moment, f"--since takes {_MOMENTS}.")
    return _sides(f"the runs before {_words(at)}", f"the runs since {_words(at)}", (None, at), (at, None))


def between(before: str, after: str) -> Sides:
    """Two nights.

    Args:
        before: a day, `2026-03-01`, or `FROM/TO` in ISO 8601, in UTC where it doesn't say otherwise.
        after: the same.

    Raises:
        UsageProblem: one is none, or they have a moment in common.
    """
    first, second = _period(before), _period(after)
    if first[0] < second[1] and second[0] < first[1]:
        raise UsageProblem(
            f"--between names times that have something in common: {before} and {after}",
            "Give two that don't overlap.",
        )
    return _sides(before, after, first, second)


def _period(text: str) -> tuple[datetime, datetime]:
    hint = f"--between takes two of: {_NIGHTS}."
    if _DAY.fullmatch(text):
        day = _time(text, hint)
        try:
            return day, day + timedelta(days=1)
        except OverflowError:
            raise UsageProblem(f"no time: {text}", hint) from None
    begin, slash, end = text.partition("/")
    if not slash:
        raise UsageProblem(f"no night: {text}", hint)
    found = _time(begin, hint), _time(end, hint)
    if found[0] >= found[1]:
        raise UsageProblem(f"a night that ends before it begins: {text}", hint)
    return found


def _time(text: str, hint: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageProblem(f"no time: {text}", hint) from None


def _words(at: datetime) -> str:
    """To the minute, or to the second, if it has seconds."""
    return at.replace(tzinfo=None).isoformat(" ", "seconds" if at.second else "minutes")


_Period = tuple[datetime | None, datetime | None]


def _sides(before: str, after: str, first: _Period, second: _Period) -> Sides:
    sql = (
        f"SELECT run_key,\n       CASE WHEN {_within(first)} THEN 'before' ELSE 'after' END AS side\n"
        f"FROM runs WHERE ({_within(first)}) OR ({_within(second)})"
    )
    return Sides(before, after, sql)


def _within(period: _Period) -> str:
    begin, end = period
    parts = [
        f"started {sign} TIMESTAMP '{at.replace(tzinfo=None).isoformat(' ', 'microseconds')}Z'"
        for sign, at in ((">=", begin), ("<", end))
        if at is not None
    ]
    return " AND ".join(parts)
