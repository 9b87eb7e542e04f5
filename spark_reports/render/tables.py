"""The tables of a report as files: CSV for everything, Parquet and Delta with their explicit schema."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.spark_reports.render.document import plain_value
from rocketchaos.spark_reports.report import Table


def write_csv(table: Table, path: Path) -> None:
    """One CSV file in UTF-8 with a header. Unknown values are empty.

    Raises:
        OSError: it can't be written.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.schema.names)
        writer.writerows([_flat(row.get(name)) for name in table.schema.names] for row in table.rows)


_AT_ONCE = 4
"""Tables written at the same time: planning and committing one takes longer than writing its few rows."""


def write_with_spark(spark: SparkSession, tables: Sequence[Table], folder: Path) -> None:
    """`<name>.parquet` and `<name>.delta` of each table in the folder, each a folder of its own.

    Raises:
        EnvironmentNotReady: Spark's workers wrote them on other machines. The session reports what else keeps
            Spark from writing (see `spark_reports.failures`).
    """
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="table") as pool:
        for written in [pool.submit(_write, spark, table, folder) for table in tables]:
            written.result()


def _write(spark: SparkSession, table: Table, folder: Path) -> None:
    rows = [tuple(row.get(name) for name in table.schema.names) for row in table.rows]
    frame = spark.createDataFrame(rows, table.schema).coalesce(1)
    for form in ("parquet", "delta"):
        target = folder / f"{table.name}.{form}"
        # Not as a URI: Hadoop takes `%20` for three characters of the name.
        frame.write.format(form).save(f"file://{target}")
        if table.rows and not any(target.glob("*.parquet")):
            raise EnvironmentNotReady(
                f"{target} is empty: Spark's workers wrote it on their own machines",
                "Choose an --out that all machines of the Spark cluster share.",
            )


def _flat(value: Any) -> Any:
    """A value for CSV: lists and maps as text, yes and no as `true` and `false`."""
    plain = plain_value(value)
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, dict):
        return "; ".join(f"{name}={_flat(item)}" for name, item in plain.items())
    if isinstance(plain, list):
        return "; ".join(str(_flat(item)) for item in plain)
    return "" if plain is None else plain
