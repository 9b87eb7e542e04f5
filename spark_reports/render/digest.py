"""The first tables of a report, cut to what a terminal or a chat can show; it says what it cut away."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql.types import NumericType

from rocketchaos.harness.core.text import counted, one_line
from rocketchaos.spark_reports.render.values import heading, words
from rocketchaos.spark_reports.report import Report, Table

TABLES, ROWS, WIDTH = 2, 8, 100
_WIDEST_CELL = 34


@dataclass(frozen=True, slots=True)
class Digest:
    """A table, cut."""

    title: str
    heads: Sequence[str]
    numbers: Sequence[bool]
    rows: Sequence[Sequence[str]]
    more: str
    """A note on rows that are left out, and where they are; empty if none are."""


def digests(report: Report, width: int = WIDTH) -> list[Digest]:
    """Of the report's first tables that have rows."""
    return [_digest(report, table, width) for table in [item for item in report.tables if item.rows][:TABLES]]


def _digest(report: Report, table: Table, width: int) -> Digest:
    fields = table.schema.fields
    cells = [[_cell(row.get(field.name)) for field in fields] for row in table.rows]
    kept, room = [], width
    for n, field in enumerate(fields):
        column = [line[n] for line in cells]
        if len(cells) > 1 and len(set(column)) == 1 and n:
            continue  # the same in every row: it tells none from the others
        wide = max(len(text) for text in (heading(field.name), *column[:ROWS])) + 3
        if wide > room:
            break
        kept.append(n)
        room -= wide
    left_out = len(cells) - ROWS
    short = left_out > 0 or len(kept) < len(fields)
    rest = f"{counted(left_out, 'more row')}, and all columns," if left_out > 0 else "All columns"
    return Digest(
        one_line(table.title),
        [heading(fields[n].name) for n in kept],
        [isinstance(fields[n].dataType, NumericType) for n in kept],
        [[line[n] for n in kept] for line in cells[:ROWS]],
        f"{rest} in {report.name}/{table.name}.csv" if short else "",
    )


def _cell(value: object) -> str:
    text = one_line(words(value))
    return text if len(text) <= _WIDEST_CELL else f"{text[: _WIDEST_CELL - 1]}…"
