"""Histories added up, so that all their events are gone through once: a row for each run, node, kind and queue.

================================================  ===============================================================
`run_key, node, kind, topic, broker, queue_id`    whose events they are; null where an event doesn't tell
`event_count, broken_events`                      how many there are, and how many of them are broken, ...
`events_of_other_schema, events_of_another_run`
`numbered, least_n, greatest_n, sum_n, xor_n`     of the numbers of those that aren't broken
`opened_ns, opened_wall_ms`                       when event 1 was; null where it is none of these
`least_ns, greatest_ns`                           CLOCK_MONOTONIC of the first and of the last, in nanoseconds
`least_apart_ms, greatest_apart_ms`               from that clock to the wall clock
`events_hash, keys_hash`                          XOR of the hashes of events, and of the keys of their messages
`place, place_ns`                                 of what was `sent` or `received` and is no retry: the greatest
                                                  offset * EVENTS_AT_MOST + number of event, and when that was
================================================  ===============================================================

All are numbers, for which Spark needs no sort, however many events a run has; and all can be added up again.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

EVENTS_AT_MOST = 2**31
"""Numbers of events are below."""
_QUEUE = ("topic", "broker", "queue_id")


def totals(lines: DataFrame) -> DataFrame:
    """Of lines staged by `spark_reports.ingest.events`."""
    n = fn.when(~fn.col("broken"), fn.col("n").cast("long"))
    apart_ms = fn.col("wall_ms").cast("double") - fn.col("mono_ns").cast("double") / 1e6
    first = fn.col("n") == 1
    # The greatest offset, and of several events that have it the last: as one number, for with a struct Spark
    # sorts all rows. No queue of a run has so many messages that it wouldn't fit.
    place = fn.when(
        fn.col("kind").isin("sent", "received") & (fn.coalesce("data.reconsume_times", fn.lit(0)) == 0),
        fn.expr(f"try_add(try_multiply(coalesce(data.queue_offset, data.offset), {EVENTS_AT_MOST}L), n)"),
    )
    return lines.groupBy("run_key", "node", "kind", *(fn.col(f"data.{name}") for name in _QUEUE)).agg(
        fn.count(fn.lit(1)).alias("event_count"),
        fn.count_if("broken").alias("broken_events"),
        fn.count_if("other_schema").alias("events_of_other_schema"),
        fn.count_if("of_another_run").alias("events_of_another_run"),
        fn.count(n).alias("numbered"),
        fn.min(n).alias("least_n"),
        fn.max(n).alias("greatest_n"),
        fn.sum(n).alias("sum_n"),
        fn.bit_xor(n).alias("xor_n"),
        fn.min(fn.when(first, fn.col("mono_ns"))).alias("opened_ns"),
        fn.min(fn.when(first, fn.col("wall_ms"))).alias("opened_wall_ms"),
        fn.min("mono_ns").alias("least_ns"),
        fn.max("mono_ns").alias("greatest_ns"),
        fn.min(apart_ms).alias("least_apart_ms"),
        fn.max(apart_ms).alias("greatest_apart_ms"),
        fn.bit_xor(fn.xxhash64("n", "mono_ns", "wall_ms", "node", "kind", "data.key")).alias("events_hash"),
        fn.bit_xor(fn.xxhash64("data.key")).alias("keys_hash"),
        fn.max(place).alias("place"),
        fn.max_by("mono_ns", place).alias("place_ns"),
    )


def in_time(added: DataFrame, sound: DataFrame) -> DataFrame:
    """The rows of some runs, with times since a run's first event.

    Columns: `run_key, run, batch, node, kind, topic, broker, queue_id, first_ms` (of the first of them), `place,
    place_ms`.

    Args:
        added: of `totals`.
        sound: `run_key`, `run`, `batch` of those runs, and `first_ns`: the `mono_ns` of their first event.
    """
    return added.join(fn.broadcast(sound), "run_key").select(
        *("run_key", "run", "batch", "node", "kind", *_QUEUE),
        ((fn.col("least_ns") - fn.col("first_ns")) / 1e6).alias("first_ms"),
        "place",
        ((fn.col("place_ns") - fn.col("first_ns")) / 1e6).alias("place_ms"),
    )
