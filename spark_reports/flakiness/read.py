"""The rows of the queries, as values."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, TypeVar

from pyspark.sql import Row

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.flakiness.cells import Counts
from rocketchaos.spark_reports.flakiness.costs import Cost
from rocketchaos.spark_reports.flakiness.known import Known
from rocketchaos.spark_reports.times import in_utc

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Block:
    """Runs that follow each other: a row of `flakiness_history`."""

    runs: int
    hits: int
    flips: int
    first_started: datetime
    last_started: datetime
    first_run: str
    first_source: str | None
    first_miss: str | None


@dataclass(frozen=True, slots=True)
class VersionRuns:
    """Runs of one experiment with one version: a row of `flakiness_versions`."""

    kind: str
    scenario: str
    client: str | None
    rocketmq: str | None
    cluster: str
    timing: str
    version: str
    runs: int
    hits: int
    first_started: datetime
    last_started: datetime
    miss_started: datetime | None
    miss_run: str | None
    miss_source: str | None


@dataclass(frozen=True, slots=True)
class ConditionBin:
    """Runs of a cell with about the same value of a condition: a row of `flakiness_conditions`."""

    name: str
    bin: int
    runs: int
    hits: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Cause:
    """A finding that goes with a cell's bad runs: a row of `flakiness_causes`."""

    signature: str
    side: str
    kind: str
    text: str
    first_in_runs: int
    missed_runs: int
    broken_runs: int
    good_runs: int
    source: str | None


@dataclass(frozen=True, slots=True)
class Signature:
    """A cause over all cells: a row of `flakiness_signatures`."""

    signature: str
    side: str
    kind: str
    first_in_runs: int
    bad_runs: int
    lost_runs: int
    good_runs: int
    occurrences: int
    cells: int
    first_seen: datetime | None
    last_seen: datetime | None
    text: str
    run: str | None
    source: str | None


@dataclass(frozen=True, slots=True)
class Facts:
    """The data of the report: aggregated rows, bounded by the number of cells."""

    counts: Mapping[Cell, Counts]
    blocks: Mapping[Cell, list[Block]]
    versions: list[VersionRuns]
    bins: Mapping[Cell, list[ConditionBin]]
    causes: Mapping[Cell, list[Cause]]
    signatures: list[Signature]
    costs: list[Cost]
    known: list[Known]


def read(answers: Answers) -> Facts:
    """Ask the store."""
    counts = {Cell.of(row): _as(Counts, row) for row in answers.rows("flakiness_cells")}
    return Facts(
        counts,
        _by_cell(Block, answers.rows("flakiness_history")),
        [_as(VersionRuns, row) for row in answers.rows("flakiness_versions")],
        _by_cell(ConditionBin, answers.rows("flakiness_conditions")),
        _by_cell(Cause, answers.rows("flakiness_causes")),
        [_as(Signature, row) for row in answers.rows("flakiness_signatures")],
        [_as(Cost, row) for row in answers.rows("flakiness_costs")],
        [_as(Known, row) for row in answers.rows("flakiness_known")],
    )


def _as(kind: type[T], row: Row) -> T:
    values: dict[str, Any] = {field.name: row[field.name] for field in fields(kind)}  # type: ignore[arg-type]
    times = {name: in_utc(value) for name, value in values.items() if isinstance(value, datetime)}
    return kind(**values | times)


def _by_cell(kind: type[T], rows: Iterable[Row]) -> Mapping[Cell, list[T]]:
    cells: dict[Cell, list[T]] = defaultdict(list)
    for row in rows:
        cells[Cell.of(row)].append(_as(kind, row))
    return cells
