"""The rows of the queries, as values."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

from pyspark.sql import Row

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.times import in_utc

T = TypeVar("T")
BySide = tuple[Mapping[Cell, T], Mapping[Cell, T]]
"""Before, and after."""


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many runs."""

    hits: int
    of: int
    hit: str | None = None
    """The newest run that is one."""
    miss: str | None = None
    """The newest run that is none."""
    runs: int = 0
    """All, also those that ended in errors."""


@dataclass(frozen=True, slots=True)
class CauseSeen:
    """A row of `diff_causes`."""

    signature: str
    side: str
    """`product`, `harness` or `environment`."""
    kind: str
    before: Share
    after: Share
    scenario: str
    scenarios: int
    first_seen: datetime | None
    last_seen: datetime | None
    text: str
    source: str | None
    of_bad_runs: bool
    """Whether the shares are of bad runs only: facts have lines of logs and most events only of these."""

    @property
    def comparable(self) -> bool:
        """Otherwise it is of bad runs only, and one side has none."""
        return not self.of_bad_runs or bool(self.before.of and self.after.of)


@dataclass(frozen=True, slots=True)
class Took:
    """How long it took: value in ms, number of runs, and one of them."""

    histogram: dict[float, int]
    sources: dict[float, str]

    @property
    def runs(self) -> int:
        """How many there are."""
        return sum(self.histogram.values())

    @property
    def median_ms(self) -> float:
        """The least value that half of the runs don't exceed."""
        below = 0
        for ms in sorted(self.histogram):
            below += self.histogram[ms]
            if 2 * below >= self.runs:
                return ms
        raise ValueError("there are no runs")


@dataclass(frozen=True, slots=True)
class Facts:
    """All that the report is made of."""

    cells: BySide[Share]
    claims: Mapping[str, BySide[Share]]
    causes: list[CauseSeen]
    timing: Mapping[str, BySide[Took]]


def read(answers: Answers) -> Facts:
    """Ask the store, by the view `sides` as it is."""
    return Facts(
        _cells(answers.rows("diff_cells")),
        {
            claim: _by_side(rows, _claim)
            for claim, rows in _grouped(answers.rows("diff_claims"), "claim").items()
        },
        [_cause(row) for row in answers.rows("diff_causes")],
        {what: _timing(rows) for what, rows in _grouped(answers.rows("diff_timing"), "what").items()},
    )


def _grouped(rows: list[Row], column: str) -> Mapping[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[column]].append(row)
    return groups


def _by_side(rows: list[Row], of: Callable[[Row], T]) -> BySide[T]:
    found: tuple[dict[Cell, T], dict[Cell, T]] = ({}, {})
    for row in rows:
        found[row.side == "after"][Cell.of(row)] = of(row)
    return found


def _cells(rows: list[Row]) -> BySide[Share]:
    return _by_side(rows, lambda row: Share(row.as_expected, row.judged, row.newest, row.bad, row.runs))


def _claim(row: Row) -> Share:
    return Share(row.held, row.runs, row.yes, row.no, row.runs)


def _cause(row: Row) -> CauseSeen:
    return CauseSeen(
        row.signature,
        row.side,
        row.kind,
        Share(row.before_runs, row.before_of),
        Share(row.after_runs, row.after_of),
        row.scenario,
        row.scenarios,
        in_utc(row.first_seen),
        in_utc(row.last_seen),
        row.text,
        row.source,
        row.of_bad_runs,
    )


def _timing(rows: list[Row]) -> BySide[Took]:
    """Of one kind of interval."""
    found: tuple[dict[Cell, Took], dict[Cell, Took]] = ({}, {})
    # By place: there are tens of thousands of rows, and a column's name takes ten times as long.
    for (side, _what, *cell), same in groupby(rows, itemgetter(slice(0, -3))):
        took = found[side == "after"].setdefault(Cell(*cell), Took({}, {}))
        for *_, ms, runs, source in same:
            took.histogram[ms] = runs
            took.sources[ms] = source
    return found
