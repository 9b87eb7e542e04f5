"""The history of every run of an ingest, in the form from which the facts are made.

======================  =======================================================================
`run_key, run, batch`   of the run, as in the tables of the store
`n`                     number of the event: its line in `events.jsonl`
`at_ms`                 CLOCK_MONOTONIC since the run's first event, in milliseconds
`wall_ms`               Unix time
`node`                  who saw it: `harness`, `producer`, a consumer's or a server's name
`kind`                  `sent`, `consumer-started`, ...: see `harness.core.events`
`data`                  struct of all kinds' fields (`spark_reports.contract.DATA`); `queues` is JSON text
======================  =======================================================================

Nearly all events are of one message each, and have few fields. Every event is a row of `staged` with those fields
alone: a column of each field of every kind would take as long to write, empty as it is, as the line to parse. What
the other events have besides is text there, parsed once more, into `story`: the few that most facts are made from.
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

from rocketchaos.harness.core.model import SCHEMA_VERSION
from rocketchaos.spark_reports.contract import CORRUPT, DATA
from rocketchaos.spark_reports.schema import schema

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

OF_MESSAGES = (
    "send-invoked",
    "sent",
    "received",
    "consumed",
    "blocked",
    "tracks-observed",
    "dashboard-tracks-observed",
)
"""Kinds of which there are some for each message."""
OF_A_MESSAGE = schema(
    **{
        name: DATA[name].dataType
        for name in (
            "topic",
            "key",
            "broker",
            "queue_id",
            "queue_offset",
            "offset",
            "reconsume_times",
            "tracks",
        )
    }
)
"""Fields of `data` of these kinds, as far as facts are made from them."""

HARDLY_REPEATED = ("n", "mono_ns", "wall_ms", "data.key", "data.queue_offset", "data.offset")
"""Columns of `staged` rows in which nearly every value is another one."""


def staged(lines: DataFrame, keys: DataFrame) -> DataFrame:
    """Lines of histories with the key of their run, and what is wrong with each.

    `data` has the fields of a message alone; `told` is JSON of all fields, null in events of messages.

    Args:
        lines: of `spark_reports.ingest.reading.event_lines`.
        keys: `place`, `run_key`, `run`, `batch` of the folders.
    """
    own = lines.withColumnRenamed("run", "own_run")
    told = fn.when(~fn.col("kind").isin(*OF_MESSAGES), fn.col("data"))
    return own.transform(with_run, keys, "events.jsonl").select(
        *_AS_WRITTEN,
        fn.struct(*(f"data.{name}" for name in OF_A_MESSAGE.names)).alias("data"),
        fn.to_json(told).alias("told"),
        (fn.col("own_run") != fn.col("run")).alias("of_another_run"),
        (fn.col("schema_version") != SCHEMA_VERSION).alias("other_schema"),
        fn.expr(is_broken(run="own_run")).alias("broken"),
    )


def story(lines: DataFrame) -> DataFrame:
    """Of `staged` lines those that are not of one message, with all fields of `data`."""
    few = lines.where("told IS NOT NULL")
    return few.select(*_AS_WRITTEN, fn.from_json("told", DATA).alias("data"))


def history(lines: DataFrame, sound: DataFrame) -> DataFrame:
    """The events of some runs, with times since their first.

    Args:
        lines: of `staged`, or of `story`.
        sound: `run_key`, `run`, `batch` of those runs, and `first_ns`: the `mono_ns` of their first event.
    """
    return (
        lines.join(fn.broadcast(sound), "run_key")
        .withColumn("at_ms", (fn.col("mono_ns") - fn.col("first_ns")) / 1e6)
        .select(*EVENTS.fieldNames())
    )


def with_run(lines: DataFrame, keys: DataFrame, name: str) -> DataFrame:
    """Lines of files of this name, with the key of their run; those of folders that have none are left out."""
    path = fn.concat("place", fn.lit(name)).alias("file_path")
    return lines.join(fn.broadcast(keys.select(path, "run_key", "run", "batch")), "file_path")


_AS_WRITTEN = ("run_key", "n", "mono_ns", "wall_ms", "node", "kind")


_LAST_NS = 2**62
"""After 146 years; of two times up to it the difference is a BIGINT too."""


def is_broken(parent: str = "", run: str = "run") -> str:
    """SQL: whether a line is no event from which facts can be made.

    Args:
        parent: of the line's fields, with a dot behind; empty: they are columns.
        run: what the field `run` is called.
    """
    needed = ("n", "mono_ns", "wall_ms", run, "node", "kind", "data")
    missing = " OR ".join(f"{parent}{name} IS NULL" for name in needed)
    return (
        f"{parent}{CORRUPT} IS NOT NULL OR {missing} OR {parent}mono_ns NOT BETWEEN 0 AND {_LAST_NS} "
        f"OR ({parent}kind = 'consumer-started' AND {parent}data.group IS NULL)"
    )
