"""The content of a report, independent of its format: sentences, tables, figures, and the SQL of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from rocketchaos.spark_reports.render.anchors import anchor

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as Plot


RUN_COLUMNS = frozenset(
    (
        "certain_source", "example", "first_bad_run_source", "first_bad_source", "first_run_source",
        "first_typical_run", "second_typical_run", "source", "typical_run",
    )
)  # fmt: skip
"""Columns of tables that name the folder of a run."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a report, few enough to read: aggregates, never facts."""

    name: str
    """The name of its files: `cells`."""
    title: str
    says: str
    """One sentence: how to read it."""
    schema: StructType
    rows: Sequence[Mapping[str, Any]]
    sql: str
    """The Spark SQL of all its counts, one query after the other; each runs unchanged on `StoreSummary.views`."""
    rows_are: str = ""
    """The kind of row, if links can lead to it: `cell`, `cause`, `pair`; see `spark_reports.render.anchors`."""
    key: Sequence[str] = ()
    """The columns that identify such a row."""
    methods: Sequence[str] = ()
    """The ids of its statistical methods: `spark_reports.methods.METHODS`."""

    def anchor(self, row: Mapping[str, Any]) -> str | None:
        """The anchor of a row; None: rows of this table have none."""
        return anchor(self.rows_are, [row.get(name) for name in self.key]) if self.key else None


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture of a report."""

    name: str
    title: str
    says: str
    plot: Plot
    sql: str
    methods: Sequence[str] = ()
    """As of a table."""


@dataclass(frozen=True, slots=True)
class Section:
    """Tables and figures under one title on the page."""

    title: str
    says: str
    parts: Sequence[Table | Figure]


@dataclass(frozen=True, slots=True)
class StoreSummary:
    """The source of the report. Every report shows it, so that nothing is missing silently."""

    uri: str
    runs: int
    messages: int
    scenarios: int
    hosts: int
    first: datetime | None
    last: datetime | None
    quarantined: int
    quarantine_reasons: Mapping[str, int]
    """The number of folders by kind of reason."""
    clock_jumps: int
    """Runs in which the wall clock jumped, or was wrong all the time: their order in time is uncertain."""
    kept_since: datetime | None = None
    """Older runs were removed (`report tidy --keep`); None: all are kept."""
    versions: Mapping[str, int] = field(default_factory=dict)
    """The version of Delta that was read, by table of the store."""
    views: Sequence[str] = ()
    """The statements that make the views for the SQL of tables and figures, as they were then."""
    quarantine_newest: Sequence[str] = ()
    """The newest folders in quarantine, 20 at most, each with its reason and the way out."""


@dataclass(frozen=True, slots=True)
class Report:
    """One report."""

    name: str
    """`diff`, `flakiness`, `divergence` or `timing`."""
    title: str
    headline: str
    """One sentence: the most important result, and what to do next. It marks runs (`spark_reports.run_names`)."""
    lines: Sequence[str]
    """The short text for a terminal or a chat: up to a dozen sentences, the worst first."""
    sections: Sequence[Section]
    store: StoreSummary
    texts: Mapping[str, str] = field(default_factory=dict)
    """More files than those of its tables, by name."""

    @property
    def tables(self) -> Sequence[Table]:
        """All its tables."""
        return [part for section in self.sections for part in section.parts if isinstance(part, Table)]

    @property
    def figures(self) -> Sequence[Figure]:
        """All its figures."""
        return [part for section in self.sections for part in section.parts if isinstance(part, Figure)]
