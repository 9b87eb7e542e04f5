"""The tables of a report as files: CSV for everything, Parquet and Delta with their explicit schema."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from harness.errors import EnvironmentNotReady
from spark_reports.render.document import plain_value
from spark_reports.report import Table

_TELLS = ("No space left", "Permission denied", "Read-only file system", "Mkdirs failed", "Disk quota")
"""By which Spark's long stories of files that can't be written are known."""


def write_csv(table: Table, path: Path) -> None:
    """One file, comma-separated, UTF-8, with names; nothing where a value is not known.

    Raises:
        OSError: it can't be written.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.schema.names)
        writer.writerows([_flat(row.get(name)) for name in table.schema.names] for row in table.rows)


def write_with_spark(spark: SparkSession, table: Table, folder: Path) -> None:
    """`<name>.parquet` and `<name>.delta` in the folder, each a folder of its own.

    Raises:
        EnvironmentNotReady: they can't be written, or Spark's workers wrote them on other machines.
    """
    rows = [tuple(row.get(name) for name in table.schema.names) for row in table.rows]
    frame = spark.createDataFrame(rows, table.schema).coalesce(1)
    for form in ("parquet", "delta"):
        target = folder / f"{table.name}.{form}"
        try:
            frame.write.format(form).save(target.as_uri())
        except (Py4JError, PySparkException) as error:
            told = str(error)
            found = next((tell for tell in _TELLS if tell in told), None)
            if found is None:
                raise
            raise EnvironmentNotReady(
                f"{target} can't be written: {found}", "Free some disk space, or choose another --out."
            ) from error
        if table.rows and not any(target.glob("*.parquet")):
            raise EnvironmentNotReady(
                f"{target} is empty: Spark's workers wrote it on their own machines",
                "Choose an --out that all machines of the Spark cluster share.",
            )


def _flat(value: Any) -> Any:
    """What CSV has: lists and maps as text, yes and no as `true` and `false`."""
    plain = plain_value(value)
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, dict):
        return "; ".join(f"{name}={_flat(one)}" for name, one in plain.items())
    if isinstance(plain, list):
        return "; ".join(str(_flat(one)) for one in plain)
    return "" if plain is None else plain
