"""Of which queries each part of a report is made: what changes in it when the answers to one of them do."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from plotly.io import to_json
from pyspark.sql import Row, SparkSession

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.queries import query
from rocketchaos.spark_reports.report import Figure, Report, StoreSummary, Table
from tests.benchmarks.spark.reporting import all_queries

if TYPE_CHECKING:
    from rocketchaos.spark_reports.report_kinds import Builder

Part = tuple[str, str]
"""`table` or `figure`, and its name."""
SUMMARY = StoreSummary("file:///store", 0, 0, 0, 0, None, None, 0, {}, 0)

_KEYS = frozenset((*Cell._fields, "block", "bin", "place", "unnoticed"))
"""By these, rows of several queries are put together, or dealt out: they are left as they are."""
_FREE = ("text", "source", "example", "reason", "run", "miss", "certain_source")
"""Ends of the names of columns whose texts can be any."""


@dataclass(frozen=True)
class Known:
    """A session that knows the answers to some queries, by their text."""

    rows: Mapping[str, Sequence[Row]]

    def sql(self, text: str) -> Answered:
        return Answered(self.rows[text])


@dataclass(frozen=True)
class Answered:
    """What a session gives."""

    rows: Sequence[Row]

    def collect(self) -> Sequence[Row]:
        return self.rows


def queries_of(spark: SparkSession, build: Builder) -> tuple[dict[Part, set[str]], dict[Part, set[str]]]:
    """Of each part the queries that it is made of, and those that it shows."""
    names = {query(name): name for name in all_queries()}
    asked: dict[str, Sequence[Row]] = {}

    class Asking:
        def sql(self, text: str) -> Answered:
            asked[text] = spark.sql(text).collect()
            return Answered(asked[text])

    report = build(Answers(cast(SparkSession, Asking())), SUMMARY)
    before = _values(report)
    made: dict[Part, set[str]] = {part: set() for part in before}
    for text in asked:
        for after in _changed(build, asked, text):
            for part, values in before.items():
                if after.get(part) != values:
                    made[part].add(names[text])
    shown = {
        _key(table): {names[text] for text in table.sql.split(";\n\n")}  # type: ignore[attr-defined]
        for table in (*report.tables, *report.figures)
    }
    return made, shown


def _changed(
    build: Builder, asked: Mapping[str, Sequence[Row]], text: str
) -> Iterator[dict[Part, Counter[str]]]:
    """What the report has where one query is answered otherwise; some such answers there must be."""
    made = 0
    for change in CHANGES:
        rows = [
            Row(**{name: _other(name, value, change) for name, value in row.asDict().items()})
            for row in asked[text]
        ]
        try:
            report = build(Answers(cast(SparkSession, Known({**asked, text: rows}))), SUMMARY)
        except (ArithmeticError, ValueError, LookupError):
            continue  # no such answer could be
        made += 1
        yield _values(report)
    assert made


CHANGES: Sequence[Callable[[Any], Any]] = (lambda n: n // 2, lambda n: n + 1)


def _other(name: str, value: Any, change: Callable[[Any], Any]) -> Any:
    if name in _KEYS or value is None:
        return value
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return change(value)
    if isinstance(value, datetime):
        return value + timedelta(days=1)
    if isinstance(value, dict):
        return {item: change(own) for item, own in value.items()}
    if name == "number":  # of `divergence_classes`, a text
        return str(change(int(value))) if value.isdecimal() else value
    return f"{value}~" if name.endswith(_FREE) else value


def _key(part: Table | Figure) -> Part:
    return "table" if isinstance(part, Table) else "figure", part.name


def _values(report: Report) -> dict[Part, Counter[str]]:
    """All that each part shows, in whatever order."""
    tables = {
        _key(table): Counter(json.dumps(row, default=str, sort_keys=True) for row in table.rows)
        for table in report.tables
    }
    figures = {
        _key(figure): Counter(_leaves(json.loads(to_json(figure.plot, validate=False, engine="json"))))
        for figure in report.figures
    }
    return tables | figures


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield repr(value)
