"""What the histories and messages of folders add up to: what shows whether they are whole, one row a run."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from spark_reports.ingest.messages import BROKEN, OTHER_SCHEMA
from spark_reports.tables import MESSAGES


def of_histories(lines: DataFrame) -> DataFrame:
    """One row a run, of lines staged by `spark_reports.ingest.events`.

    `in_order`: the numbers are 1, 2, 3, ... without a gap, which count, greatest, sum and XOR show together.
    Aggregates of numbers alone: Spark needs no sort for them, however many lines a run has.
    """
    n = fn.when(~fn.col("broken"), fn.col("n").cast("long"))
    count, greatest = fn.count(n), fn.max(n)
    whole_xor = (
        fn.when(greatest % 4 == 0, greatest)
        .when(greatest % 4 == 1, fn.lit(1))
        .when(greatest % 4 == 2, greatest + 1)
        .otherwise(fn.lit(0))
    )
    apart_ms = fn.col("wall_ms").cast("double") - fn.col("mono_ns").cast("double") / 1e6
    first = fn.col("n") == 1
    first_ns = fn.min(fn.when(first, fn.col("mono_ns")).cast("double"))
    return lines.groupBy("run_key").agg(
        fn.count(fn.lit(1)).alias("event_count"),
        fn.count_if("broken").alias("broken_events"),
        fn.count_if("other_schema").alias("events_of_other_schema"),
        fn.count_if("of_another_run").alias("events_of_another_run"),
        (
            (fn.min(n) == 1)
            & (count == greatest)
            & (fn.sum(n) * 2 == greatest * (greatest + 1))
            & (fn.bit_xor(n) == whole_xor)
        ).alias("in_order"),
        fn.count_if(fn.col("kind").isin("run-ended", "trouble")).alias("ends"),
        fn.count_if(fn.col("kind") == "sent").alias("sent"),
        fn.min(fn.when(first, fn.col("wall_ms"))).alias("first_wall_ms"),
        ((fn.max(fn.col("mono_ns").cast("double")) - first_ns) / 1e6).alias("last_ms"),
        (fn.max(apart_ms) - fn.min(apart_ms)).try_cast("long").alias("clock_jump_ms"),
        fn.bit_xor(fn.xxhash64("n", "mono_ns", "wall_ms", "node", "kind", "data.key")).alias("events_hash"),
    )


def groups_of(lines: DataFrame) -> DataFrame:
    """`run_key, consumer_group`: the groups that the histories know."""
    named = lines.where("data.group IS NOT NULL")
    return named.select("run_key", fn.col("data.group").alias("consumer_group")).distinct()


def of_messages(messages: DataFrame, groups: DataFrame) -> DataFrame:
    """One row a run, of rows of the table `messages`."""
    by_group = messages.groupBy("run_key", "consumer_group").agg(
        fn.count(fn.lit(1)).alias("rows"),
        fn.count_if(_is(BROKEN)).alias("broken"),
        fn.count_if(_is(OTHER_SCHEMA)).alias("other_schema"),
        fn.max(fn.array_max("events")).alias("last_event"),
        fn.bit_xor(fn.xxhash64(*(name for name in MESSAGES.columns if name not in _OF_THE_INGEST))).alias(
            "hash"
        ),
    )
    known = groups.withColumn("known", fn.lit(True))
    return (
        by_group.join(fn.broadcast(known), ["run_key", "consumer_group"], "left")
        .groupBy("run_key")
        .agg(
            fn.sum("rows").alias("message_count"),
            fn.max("rows").alias("most_of_a_group"),
            fn.sum("broken").alias("broken_messages"),
            fn.sum("other_schema").alias("messages_of_other_schema"),
            fn.max("last_event").alias("last_event_of_messages"),
            fn.array_sort(fn.collect_set(fn.when(fn.col("known").isNull(), fn.col("consumer_group")))).alias(
                "strange_groups"
            ),
            fn.bit_xor("hash").alias("messages_hash"),
        )
    )


def digest() -> Column:
    """Of everything that a folder's facts are made from."""
    parts = ("run_text", "outcome_text", "checks_text", "events_hash", "messages_hash")
    text = reduce(
        lambda one, other: fn.concat(one, fn.lit("\n"), other),
        (fn.coalesce(fn.col(name).cast("string"), fn.lit("")) for name in parts),
    )
    return fn.sha2(text, 256)


_OF_THE_INGEST = ("run_key", "batch")


def _is(problem: str) -> Column:
    return fn.col("message_class").isNull() & (fn.col("reason") == problem)
