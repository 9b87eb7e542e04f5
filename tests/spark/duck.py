"""DuckDB over the views that Spark has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pyarrow
from pyspark.sql import SparkSession

from rocketchaos.spark_reports.queries import query
from rocketchaos.spark_reports.store_views import NEWEST_INGEST, SIDES
from rocketchaos.spark_reports.tables import TABLES
from tests.benchmarks.spark.beside import difference


@contextmanager
def duck(spark: SparkSession) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB that has the same rows in views with the same names."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for name in TABLES:
            connection.register(name, without_zones(spark.table(name).toArrow()))
        connection.execute(f"CREATE VIEW {SIDES} AS {NEWEST_INGEST}")
        yield connection


def without_zones(table: pyarrow.Table) -> pyarrow.Table:
    """The rows, with times in UTC without a zone: DuckDB gives times with a zone only where there is `pytz`."""
    plain = pyarrow.timestamp("us")
    fields = [
        field.with_type(plain) if pyarrow.types.is_timestamp(field.type) else field for field in table.schema
    ]
    return table.cast(pyarrow.schema(fields))


def compare(spark: SparkSession, theirs: duckdb.DuckDBPyConnection, name: str) -> int:
    """Ask both the same query, which must have rows: so many. Columns and rows are alike, or the test fails."""
    ours, found = spark.sql(query(name)), theirs.execute(query(name))
    assert ours.columns == [item[0] for item in found.description or ()]
    rows = ours.collect()
    assert difference(rows, found.fetchall()) == ""
    return len(rows)
