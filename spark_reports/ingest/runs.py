"""The table `runs`, from the documents of a folder and from what its history and messages add up to."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from rocketchaos.spark_reports.ingest.shape import shaped
from rocketchaos.spark_reports.tables import RUNS

NOBODY = "none"
"""The clients of a run without any, as of one that pulls by hand."""
UNKNOWN = "unknown"
"""Of a cell: what the folder doesn't tell, as the kind of a cluster that never started."""


def client_label() -> Column:
    """The clients of a run, with their versions where those aren't the brokers': `java+python 2.0.0`.

    Older folders tell kinds and versions, and not which version is whose: they are put together where there are as
    many of both.
    """
    each = fn.array_sort(fn.array_distinct(fn.map_values("record.clients")))
    named = fn.transform(each, lambda one: _named(fn.split_part(one, fn.lit("@"), fn.lit(1)), _behind(one)))
    kinds, versions = fn.split("record.client", "\\+"), fn.split("record.client_version", "\\+")
    paired = fn.transform(
        kinds, lambda kind, at: _named(kind, fn.get(versions, fn.least(at, fn.size(versions) - 1)))
    )
    one_each = (fn.size(kinds) == fn.size(versions)) | (fn.size(versions) == 1)
    old = fn.when(one_each, fn.array_join(paired, "+")).otherwise(
        fn.concat_ws(" ", "record.client", "record.client_version")
    )
    return (
        fn.when(fn.size("record.clients") > 0, fn.array_join(named, "+"))
        .when(fn.col("record.client") == "", fn.lit(NOBODY))
        .when(fn.col("record.client").isNull(), fn.lit(UNKNOWN))
        .otherwise(old)
    )


def runs(documents: DataFrame) -> DataFrame:
    """The rows of the table.

    Args:
        documents: the folders' documents with, of `spark_reports.ingest.soundness`, `first_wall_ms`, `last_ms`,
            `clock_jump_ms`, `event_count`, `message_count`, and `digest`.
    """
    record, verdict = fn.col("record"), fn.col("verdict")
    known = {
        "scenario": record["scenario"],
        "client": client_label(),
        "rocketmq": record["rocketmq"],
        "cluster": record["cluster"]["kind"],
        "timing": record["timing"],
    }
    columns = {
        **{name: fn.coalesce(column, fn.lit(UNKNOWN)) for name, column in known.items()},
        **{
            name: record[name]
            for name in ("title", "seed", "client_version", "workers", "timers_ms", "seconds")
        },
        "harness_version": record["versions"]["rocketchaos"],
        "java_version": record["versions"]["java"],
        "host": fn.coalesce(record["host"]["name"], record["host"]["system"]),
        "processors": record["host"]["processors"],
        "memory_mib": record["host"]["memory_mib"],
        "started": fn.timestamp_millis("first_wall_ms"),
        "ended": fn.coalesce(
            fn.try_to_timestamp(record["ended"]),
            fn.timestamp_millis(fn.expr("first_wall_ms + bigint(last_ms)")),
        ),
        "outcome": verdict["outcome"],
        "expected": verdict["expected"],
        "as_expected": verdict["as_expected"],
        "reason": verdict["reason"],
        "trouble": verdict["trouble"],
        "load_start": record["load"]["start"]["average_1min"],
        "load_end": record["load"]["end"]["average_1min"],
        "busy_share": record["load"]["busy_share"],
        "beside": record["parallel"]["beside"],
        "message_count": fn.coalesce("message_count", fn.lit(0)),
        "judged": fn.timestamp_millis("judged_ms"),
        "ingested": fn.current_timestamp(),
    }
    columns["seconds"] = fn.coalesce(record["seconds"], fn.round(fn.col("last_ms") / 1000, 3))
    named = documents.withColumns(columns)
    return named.transform(shaped, RUNS)


def _behind(one: Column) -> Column:
    return fn.split_part(one, fn.lit("@"), fn.lit(2))


def _named(kind: Column, version: Column) -> Column:
    own = (version == "") | version.eqNullSafe(fn.col("record.rocketmq")) | version.isNull()
    return fn.when(own, kind).otherwise(fn.concat_ws(" ", kind, version))
