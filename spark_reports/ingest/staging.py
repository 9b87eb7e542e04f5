"""Parsed documents and events of an ingest under way, as columns, in a folder of the store that ends with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from rocketchaos.spark_reports.places import literal
from rocketchaos.spark_reports.store import BATCH_LIMIT_S, Store

_FOLDER = "staging"


class Staging:
    """Where an ingest keeps what it has parsed."""

    def __init__(self, spark: SparkSession, uri: str) -> None:
        self._spark = spark
        self._uri = uri

    def keep(self, name: str, rows: DataFrame, hardly_repeated: Sequence[str] = ()) -> DataFrame:
        """Write rows and read them back: what made them is not done again.

        Args:
            name: of the rows.
            rows: what is kept.
            hardly_repeated: columns of which Parquet would build dictionaries in vain.
        """
        uri = f"{self._uri}/{name}"
        plain = {f"parquet.enable.dictionary#{column}": "false" for column in hardly_repeated}
        rows.write.mode("overwrite").options(**plain).parquet(uri)
        return self._spark.read.schema(rows.schema).parquet(literal(uri))


@contextmanager
def staging(spark: SparkSession, store: Store, batch: str) -> Iterator[Staging]:
    """A place for one batch, removed at the end; what ingests that were broken off left is removed too."""
    root = store.place.of_table(_FOLDER)
    _remove_old(spark, root)
    uri = f"{root}/{batch}"
    try:
        yield Staging(spark, uri)
    finally:
        _remove(spark, uri)


def _remove_old(spark: SparkSession, root: str) -> None:
    oldest = (datetime.now(UTC) - 2 * timedelta(seconds=BATCH_LIMIT_S)).strftime("%Y%m%dT%H%M%SZ")
    files, path = _file_system(spark, root)
    if not files.exists(path):
        return
    for one in files.listStatus(path):
        name = one.getPath().getName()
        if name < oldest:
            _remove(spark, f"{root}/{name}")


def _remove(spark: SparkSession, uri: str) -> None:
    with suppress(Exception):  # the ingest's own failure is what the user must hear of
        files, path = _file_system(spark, uri)
        files.delete(path, True)


def _file_system(spark: SparkSession, uri: str) -> tuple[Any, Any]:
    context: Any = spark.sparkContext
    path = context._jvm.org.apache.hadoop.fs.Path(uri)
    return path.getFileSystem(context._jsc.hadoopConfiguration()), path
