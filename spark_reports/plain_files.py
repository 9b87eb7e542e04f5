"""A small store's tables as the Parquet files they are made of, for Spark without Delta's own reading.

Delta looks through a table's log with jobs of Spark, for each table and each query. In a small store that takes a
fifth to a third of the time of all reports; here the log is read by `deltalake`, in milliseconds.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType
from pyspark.sql.utils import is_remote

from rocketchaos.spark_reports.places import Place, literal

if TYPE_CHECKING:
    from deltalake import DeltaTable

_PLAIN_READER = 1
"""The version of Delta's protocol in which a table is its files, whole, with the names of its columns."""


def plain_frames(
    spark: SparkSession, place: Place, versions: Mapping[str, int]
) -> Mapping[str, DataFrame] | None:
    """The tables at these versions, by name; None: Delta has to read them.

    That is so in a large store or one elsewhere, without the package `deltalake`, where a table is more than its
    files, and where anything is wrong with one: Delta says what.
    """
    # `deltalake` takes `%20` in a path for a space.
    if is_remote() or not place.is_small() or "%" in place.uri or not importlib.util.find_spec("deltalake"):
        return None
    found = {}
    for name, version in versions.items():
        frame = _plain_frame(spark, Path(place.of_table(name).removeprefix("file:")), version)
        if frame is None:
            return None
        found[name] = frame
    return found


def _plain_frame(spark: SparkSession, folder: Path, version: int) -> DataFrame | None:
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        table = DeltaTable(folder, version=version)
        files, schema = files_of(table, folder), schema_of(table)
    except (DeltaError, OSError, ValueError):
        return None
    if files is None or not all(file.is_file() for file in files):
        return None
    if not files:
        # Spark leaves out of a plan what has no rows.
        return spark.createDataFrame([], schema).limit(0)
    return spark.read.schema(schema).parquet(*(literal(f"file:{file}") for file in files))


def files_of(table: DeltaTable, folder: Path) -> list[Path] | None:
    """The Parquet files of a version; None: it is more than its files, as with deletion vectors or partitions."""
    if table.protocol().min_reader_version != _PLAIN_READER or table.metadata().partition_columns:
        return None
    return [folder / Path(uri).name for uri in table.file_uris()]


def schema_of(table: DeltaTable) -> StructType:
    """Its columns, in Spark's types."""
    return StructType.fromJson(json.loads(table.schema().to_json()))
