"""The findings of nights, with their age, in the form that `rocketchaos nightly --known` reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql.types import LongType, StringType, TimestampType

from rocketchaos.harness.core.text import counted, one_line
from rocketchaos.spark_reports.flakiness.words import day
from rocketchaos.spark_reports.queries import queries
from rocketchaos.spark_reports.report import Table
from rocketchaos.spark_reports.spark_schema import schema

FILE = "known.txt"
_OPENING = """\
# Findings of nights, the last seen first: a file for `rocketchaos nightly --known FILE`.
# A night reports these findings, but does not fail because of them. Delete the lines of findings that must
# fail a night.
"""


@dataclass(frozen=True, slots=True)
class Known:
    """A row of `flakiness_known`."""

    code: str
    text: str
    runs: int
    first_seen: datetime | None
    last_seen: datetime | None
    source: str | None
    newest_run: datetime | None

    @property
    def age_days(self) -> int | None:
        """Days from its first run to the newest run of the store."""
        return _days(self.first_seen, self.newest_run)

    @property
    def unseen_days(self) -> int | None:
        """Days from its last run to the newest run of the store."""
        return _days(self.last_seen, self.newest_run)


def known_table(found: Sequence[Known]) -> Table:
    """Every code, the last seen first."""
    return Table(
        "known",
        "Findings of nights",
        "The findings of `rocketchaos nightly`, by code. Ages are in days, up to the newest run of the store. "
        f"`flakiness/{FILE}` has the same in the form that `rocketchaos nightly --known` reads: keep the "
        "findings there that you accept. A finding that is `unseen` for long may be gone. Nights of older "
        "versions did not write codes into their runs.",
        schema(
            code=StringType(), text=StringType(), runs=LongType(), age_days=LongType(), unseen_days=LongType(),
            first_seen=TimestampType(), last_seen=TimestampType(), source=StringType(),
        ),
        [
            {
                "code": item.code,
                "text": item.text,
                "runs": item.runs,
                "age_days": item.age_days,
                "unseen_days": item.unseen_days,
                "first_seen": item.first_seen,
                "last_seen": item.last_seen,
                "source": item.source,
            }
            for item in _last_seen_first(found)
        ],
        queries("flakiness_known"),
        "finding",
        ("code",),
    )  # fmt: skip


def known_text(found: Sequence[Known]) -> str:
    """The file: for each code a comment and a line."""
    return _OPENING + "".join(_entry(item) for item in _last_seen_first(found))


def _entry(item: Known) -> str:
    when = ""
    if item.first_seen is not None and item.last_seen is not None:
        when = f"; first seen {day(item.first_seen)}, age {counted(item.age_days or 0, 'day')}"
        when += f"; last seen {day(item.last_seen)}, unseen for {counted(item.unseen_days or 0, 'day')}"
    words = one_line(item.text)
    return f"\n# {counted(item.runs, 'run')}{when}\n{item.code}: {words}\n"


def _last_seen_first(found: Sequence[Known]) -> list[Known]:
    return sorted(found, key=lambda item: (-(item.last_seen.timestamp() if item.last_seen else 0), item.code))


def _days(since: datetime | None, until: datetime | None) -> int | None:
    return None if since is None or until is None else (until - since).days
