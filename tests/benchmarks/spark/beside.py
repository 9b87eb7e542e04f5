"""DuckDB beside Spark: the very same SQL texts on the very same Parquet files."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import duckdb

from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.store_views import NEWEST_INGEST, SIDES
from rocketchaos.spark_reports.tables import TABLES


@contextmanager
def duck(store: Store, threads: int, memory_gib: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB that sees the store's files as tables; it has as many threads and as much memory as Spark."""
    with duckdb.connect() as connection:
        connection.execute(
            f"SET threads = {threads}; SET memory_limit = '{memory_gib}GiB'; SET TimeZone = 'UTC'"
        )
        for name, table in TABLES.items():
            files = [path.removeprefix("file://") for path in store.read(table).inputFiles()]
            if files:
                source = f"read_parquet({files!r}, hive_partitioning = true)"
                connection.execute(f"CREATE VIEW {name} AS SELECT * FROM {source}")
            else:
                columns = ", ".join(
                    f'"{item.name}" {_TYPE.get(item.dataType.typeName(), "VARCHAR")}' for item in table.schema
                )
                connection.execute(f"CREATE TABLE {name} ({columns})")
        connection.execute(f"CREATE VIEW {SIDES} AS {NEWEST_INGEST}")
        yield connection


_TYPE = {
    "integer": "INTEGER",
    "long": "BIGINT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "timestamp": "TIMESTAMP",
}


def asked(connection: duckdb.DuckDBPyConnection, text: str) -> tuple[float, list[tuple[object, ...]] | str]:
    """Seconds that a query took, and its rows; or why DuckDB doesn't take it."""
    began = time.monotonic()
    try:
        rows = connection.execute(text).fetchall()
    except duckdb.Error as refusal:
        return time.monotonic() - began, str(refusal).splitlines()[0]
    return time.monotonic() - began, rows


def difference(ours: Iterable[Iterable[Any]], theirs: Iterable[Iterable[Any]]) -> str:
    """A row that only one of the two has, in whatever order; empty where all are alike, floats to nine digits."""
    item, other = (Counter(repr([_plain(value) for value in row]) for row in rows) for rows in (ours, theirs))
    only = {"Spark": item - other, "DuckDB": other - item}
    found = [f"{min(rows)} only by {who}, one of {rows.total():,}" for who, rows in only.items() if rows]
    return "; ".join(found)


def _plain(value: Any) -> Any:
    """Without what the two have for the same value: kinds of numbers, zones of times, orders of maps."""
    if isinstance(value, float | Decimal):
        near = float(f"{value:.9g}")
        return int(near) if math.isfinite(near) and near == int(near) else repr(near)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, Mapping):
        return sorted((name, _plain(item)) for name, item in value.items())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
