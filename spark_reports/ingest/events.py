"""The history of every run of an ingest, in the form from which the facts are made.

======================  =======================================================================
`run_key, run, batch`   of the run, as in the tables of the store
`n`                     number of the event: its line in `events.jsonl`
`at_ms`                 CLOCK_MONOTONIC since the run's first event, in milliseconds
`wall_ms`               Unix time
`node`                  who saw it: `harness`, `producer`, a consumer's or a server's name
`kind`                  `sent`, `consumer-started`, ...: see `assertions.view`
`data`                  struct of all kinds' fields (`spark_reports.contract.DATA`); `queues` is JSON text
======================  =======================================================================

Lines are parsed once, into `staged`: columns on disk, those of messages apart from the others, so that what is
made from a few events of a run reads a few.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn
from pyspark.sql.types import (
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from harness.model import SCHEMA_VERSION
from spark_reports.contract import CORRUPT, DATA

EVENTS = StructType(
    [
        StructField("run_key", LongType()),
        StructField("run", StringType()),
        StructField("batch", StringType()),
        StructField("n", IntegerType()),
        StructField("at_ms", DoubleType()),
        StructField("wall_ms", LongType()),
        StructField("node", StringType()),
        StructField("kind", StringType()),
        StructField("data", DATA),
    ]
)
"""Columns of the history; `spark.createDataFrame(rows, EVENTS)` makes one for a test."""

OF_MESSAGES = ("send-invoked", "sent", "received", "consumed", "blocked")
"""Kinds of which there are some for each message."""
PART = "part"
"""The column by which `staged` is divided: `messages` or `rest`."""


def staged(lines: DataFrame, keys: DataFrame) -> DataFrame:
    """Lines of histories with the key of their run, and what is wrong with each.

    Args:
        lines: of `spark_reports.ingest.reading.event_lines`.
        keys: `place`, `run_key`, `run`, `batch` of the folders.
    """
    own = lines.withColumnRenamed("run", "own_run")
    return own.transform(with_run, keys).select(
        "run_key",
        "run",
        "batch",
        "n",
        "mono_ns",
        "wall_ms",
        "node",
        "kind",
        "data",
        (fn.col("own_run") != fn.col("run")).alias("of_another_run"),
        (fn.col("schema_version") != SCHEMA_VERSION).alias("other_schema"),
        fn.expr(_broken()).alias("broken"),
        fn.when(fn.col("kind").isin(*OF_MESSAGES), "messages").otherwise("rest").alias(PART),
    )


def history(lines: DataFrame, sound: DataFrame) -> DataFrame:
    """The events of `staged` lines of those runs whose `run_key` is in `sound`, with times since their first."""
    first = (
        lines.where("n = 1")
        .join(fn.broadcast(sound), "run_key", "left_semi")
        .groupBy("run_key")
        .agg(fn.min("mono_ns").alias("first_ns"))
    )
    return (
        lines.join(fn.broadcast(first), "run_key")
        .withColumn("at_ms", (fn.col("mono_ns") - fn.col("first_ns")) / 1e6)
        .select(*EVENTS.fieldNames(), PART)
    )


def with_run(lines: DataFrame, keys: DataFrame) -> DataFrame:
    """Lines with the key of their run; those of folders that have none are left out."""
    return lines.join(fn.broadcast(keys.select("place", "run_key", "run", "batch")), "place")


def _broken() -> str:
    needed = ("n", "mono_ns", "wall_ms", "own_run", "node", "kind", "data")
    return f"{CORRUPT} IS NOT NULL OR " + " OR ".join(f"{name} IS NULL" for name in needed)
