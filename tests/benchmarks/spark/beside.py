"""DuckDB beside Spark: the very same SQL texts on the very same Parquet files."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from spark_reports.store import Store
from spark_reports.tables import TABLES

TRANSLATIONS: dict[str, str] = {}
"""Macros for functions that DuckDB has under another name."""


@contextmanager
def duck(store: Store, threads: int, memory_gib: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB that sees the store's files as tables; it has as many threads and as much memory as Spark."""
    with duckdb.connect() as connection:
        connection.execute(
            f"SET threads = {threads}; SET memory_limit = '{memory_gib}GiB'; SET TimeZone = 'UTC'"
        )
        for name, text in TRANSLATIONS.items():
            connection.execute(f"CREATE MACRO {name} AS {text}")
        for name, table in TABLES.items():
            files = [path.removeprefix("file://") for path in store.read(table).inputFiles()]
            if files:
                source = f"read_parquet({files!r}, hive_partitioning = true)"
                connection.execute(f"CREATE VIEW {name} AS SELECT * FROM {source}")
            else:
                columns = ", ".join(
                    f'"{one.name}" {_TYPE.get(one.dataType.typeName(), "VARCHAR")}' for one in table.schema
                )
                connection.execute(f"CREATE TABLE {name} ({columns})")
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
