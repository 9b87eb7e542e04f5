"""What the history says of each message beside the oracle: when it was sent and got, and its tracks.

One row per run, message and group, made in one pass and one shuffle: the aggregates have numbers alone, for which
Spark needs no sort.
"""

from __future__ import annotations

from typing import get_args

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from rocketchaos.harness.rocketmq.track_type import TrackType

KEY = ("run_key", "message_key", "consumer_group")
"""What a row is about."""
_TRACKS = ("other", *get_args(TrackType))
_ROOM = 16
"""More than there are tracks: one is kept as n * _ROOM + its place among them, so that the max is the last."""
_LOOKS = {"broker_track": "tracks-observed", "dashboard_track": "dashboard-tracks-observed"}


def witnesses(events: DataFrame, story: DataFrame, partitions: int) -> DataFrame:
    """Rows of `KEY`, `sent_ms`, `received_ms`, `broker_track`, `dashboard_track`; what wasn't seen is null.

    What was sent before any member of a group had started is, for that group, sent when the first one has.

    Args:
        events: the history (`spark_reports.ingest.events.EVENTS`), with the fields of messages.
        story: the history, without the events of each message.
        partitions: into so many the rows are divided.
    """
    members = (
        story.where("kind = 'consumer-started'")
        .groupBy("run_key", "node", fn.col("data.group").alias("member_of"))
        .agg(fn.min("at_ms").alias("since_ms"))
    )
    since = members.groupBy("run_key", "member_of").agg(fn.min("since_ms").alias("since_ms"))
    groups = since.groupBy("run_key").agg(
        fn.map_from_entries(fn.collect_list(fn.struct("member_of", "since_ms"))).alias("groups")
    )
    of = fn.when(fn.col("kind") == "sent", fn.map_keys("groups")).when(
        fn.col("kind") == "received", fn.array("member_of")
    )
    rows = (
        events.where(fn.col("kind").isin("sent", "received", *_LOOKS.values()))
        .where("data.key IS NOT NULL")
        .join(fn.broadcast(groups), "run_key", "left")
        .join(fn.broadcast(members.drop("since_ms")), ["run_key", "node"], "left")
        .select(
            "run_key",
            fn.col("data.key").alias("message_key"),
            fn.explode(of.otherwise(fn.map_keys("data.tracks"))).alias("consumer_group"),
            "groups",
            _at("sent").alias("sent_ms"),
            _at("received").alias("received_ms"),
            "n",
            "kind",
            "data.tracks",
        )
        .withColumn("since_ms", fn.when(fn.col("kind") == "sent", _since()))
        .withColumn("sent_ms", fn.greatest("sent_ms", "since_ms"))
        .withColumns({name: _code(kind) for name, kind in _LOOKS.items()})
    )
    return (
        rows.repartition(partitions, *KEY)
        .groupBy(*KEY)
        .agg(
            fn.min("sent_ms").alias("sent_ms"),
            fn.min("received_ms").alias("received_ms"),
            *(_track(name).alias(name) for name in _LOOKS),
        )
    )


def _since() -> Column:
    """When the first member of the group had started."""
    return fn.element_at("groups", fn.col("consumer_group"))


def _at(kind: str) -> Column:
    return fn.when(fn.col("kind") == kind, fn.col("at_ms"))


def _code(kind: str) -> Column:
    track = fn.element_at("tracks", fn.col("consumer_group"))
    place = fn.array_position(fn.array(*map(fn.lit, _TRACKS)), track) - 1
    return fn.when(fn.col("kind") == kind, fn.col("n").cast("long") * _ROOM + fn.greatest(place, fn.lit(0)))


def _track(name: str) -> Column:
    place = (fn.max(name) % _ROOM).cast("int")
    # Not `element_at`: of a place that is null it gives the last element (Spark 4.1.0, ANSI).
    return fn.try_element_at(fn.array(*map(fn.lit, _TRACKS)), place + 1)
