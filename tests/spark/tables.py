"""Stores of a test's own rows: what a row doesn't say is null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import SparkSession

from rocketchaos.spark_reports.local_rows import local_rows
from rocketchaos.spark_reports.store_views import NEWEST_INGEST, SIDES, placed_in_time, view
from rocketchaos.spark_reports.tables import RUNS, TABLES

Rows = Sequence[Mapping[str, Any]]


def register(spark: SparkSession, **tables: Rows) -> None:
    """Make the views of a store with these rows: `register(spark, runs=[{"run_key": 1, ...}])`."""
    unknown = set(tables) - set(TABLES)
    assert not unknown, f"no tables of the store: {unknown}"
    for name, table in TABLES.items():
        rows = tables.get(name, ())
        strange = {column for row in rows for column in row} - set(table.columns)
        assert not strange, f"{name} has no columns {strange}"
        whole = [tuple(row.get(column) for column in table.columns) for row in rows]
        frame = local_rows(spark, whole, table.schema)
        (placed_in_time(frame) if table is RUNS else frame).createOrReplaceTempView(name)
    spark.sql(view(SIDES, NEWEST_INGEST).rstrip(";"))
