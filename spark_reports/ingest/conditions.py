"""The table `conditions`: what was measured of a run that may go with its outcome.

=====================  =========================================================================================
`start_gap_ms`         between the first two members of a group that started; of several groups the shortest
`fault_offset_ms`      from the last start of a consumer before the first fault to that fault
`fault_since_send_ms`  from the first sending to the first fault; none where that fault came before
`load_start`           average of the run queue when it began, and `host_load` when its record was written
`busy_share`           of all cores, while it ran
`beside`               other runs at the same time
`waited_s`             until it was let in
`provision_s` ...      seconds of its phases: `steps_s`, `observe_s`, `tear_down_s`
`start_attempts`       of the cluster
`shared_cluster`       1: with other runs
`free_memory_mib`      of the machine
`processors`           of the machine
=====================  =========================================================================================

What the folder doesn't tell is no row.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from rocketchaos.spark_reports.ingest.shape import shaped
from rocketchaos.spark_reports.tables import CONDITIONS


def conditions(documents: DataFrame, story: DataFrame, added: DataFrame) -> DataFrame:
    """The rows of the table.

    Args:
        documents: of the folders, with `record`.
        story: the history, without the events of each message.
        added: all of it, added up: of `spark_reports.ingest.totals.in_time`.
    """
    parts = (_recorded(documents), _start_gaps(story), _fault_offsets(story, added))
    rows = parts[0].unionByName(parts[1]).unionByName(parts[2])
    return rows.where("value IS NOT NULL").transform(shaped, CONDITIONS)


def _recorded(documents: DataFrame) -> DataFrame:
    record = fn.col("record")
    values = {
        "load_start": record["load"]["start"]["average_1min"],
        "busy_share": record["load"]["busy_share"],
        "beside": record["parallel"]["beside"],
        "waited_s": record["parallel"]["waited_s"],
        "start_attempts": record["cluster"]["start_attempts"],
        "shared_cluster": record["cluster"]["shared"].cast("int"),
        "host_load": fn.get(record["host"]["load"], 0),
        "free_memory_mib": record["host"]["free_memory_mib"],
        "processors": record["host"]["processors"],
    }
    fixed = fn.create_map(
        *(part for name, value in values.items() for part in (fn.lit(name), value.cast("double")))
    )
    phases = fn.transform_keys(
        fn.coalesce(record["phases"], fn.create_map().cast("map<string,double>")),
        lambda name, _seconds: fn.concat(fn.replace(name, fn.lit(" "), fn.lit("_")), fn.lit("_s")),
    )
    # Of a name that both have, what was measured counts: the last one (`spark_reports.ingest.reading.SETTINGS`).
    return documents.select(
        "run_key", "run", "batch", fn.explode(fn.map_concat(phases, fixed)).alias("name", "value")
    )


def _start_gaps(story: DataFrame) -> DataFrame:
    order = Window.partitionBy("run_key", "member_of").orderBy("first_ms")
    return (
        story.where("kind = 'consumer-started'")
        .groupBy("run_key", "run", "batch", fn.col("data.group").alias("member_of"), "node")
        .agg(fn.min("at_ms").alias("first_ms"))
        .withColumns({"gap_ms": fn.col("first_ms") - fn.lag("first_ms").over(order)})
        .withColumn("place", fn.row_number().over(order))
        .where("place = 2")
        .groupBy("run_key", "run", "batch")
        .agg(fn.min("gap_ms").alias("value"))
        .withColumn("name", fn.lit("start_gap_ms"))
    )


def _fault_offsets(story: DataFrame, added: DataFrame) -> DataFrame:
    ids = ("run_key", "run", "batch")
    moments = story.where("kind = 'consumer-started'").select(*ids, "kind", "at_ms")
    moments = moments.union(added.where("kind = 'sent'").select(*ids, "kind", "first_ms"))
    faults = story.where("kind = 'fault-injected'")
    first = faults.groupBy("run_key").agg(fn.min("at_ms").alias("fault_ms"))
    return (
        moments.join(fn.broadcast(first), "run_key")
        .where("at_ms <= fault_ms")
        .groupBy(*ids)
        .agg(
            (fn.max("fault_ms") - fn.max(_at("consumer-started"))).alias("fault_offset_ms"),
            (fn.max("fault_ms") - fn.min(_at("sent"))).alias("fault_since_send_ms"),
        )
        .unpivot(list(ids), ["fault_offset_ms", "fault_since_send_ms"], "name", "value")
    )


def _at(kind: str) -> Column:
    return fn.when(fn.col("kind") == kind, fn.col("at_ms"))
