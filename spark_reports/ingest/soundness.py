"""What the histories and messages of folders add up to: what shows whether they are whole, one row a run."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from rocketchaos.spark_reports.ingest.messages import BROKEN, OTHER_SCHEMA
from rocketchaos.spark_reports.tables import MESSAGES


def of_histories(added: DataFrame) -> DataFrame:
    """One row a run, of `spark_reports.ingest.totals`.

    `in_order`: the numbers are 1, 2, 3, ... without a gap, which count, greatest, sum and XOR show together.
    """
    count, greatest = fn.sum("numbered"), fn.max("greatest_n")
    whole_xor = (
        fn.when(greatest % 4 == 0, greatest)
        .when(greatest % 4 == 1, fn.lit(1))
        .when(greatest % 4 == 2, greatest + 1)
        .otherwise(fn.lit(0))
    )
    first_ns = fn.min("opened_ns")
    return added.groupBy("run_key").agg(
        *(fn.sum(name).alias(name) for name in _COUNTS),
        (
            (fn.min("least_n") == 1)
            & (count == greatest)
            & (fn.sum("sum_n") * 2 == greatest * (greatest + 1))
            & (fn.bit_xor("xor_n") == whole_xor)
        ).alias("in_order"),
        fn.sum(_of_kinds("event_count", "run-ended", "trouble")).alias("ends"),
        fn.min("opened_wall_ms").alias("first_wall_ms"),
        first_ns.alias("first_ns"),
        ((fn.max("greatest_ns").cast("double") - first_ns.cast("double")) / 1e6).alias("last_ms"),
        (fn.max("greatest_apart_ms") - fn.min("least_apart_ms")).try_cast("long").alias("clock_jump_ms"),
        fn.bit_xor("events_hash").alias("events_hash"),
    )


def groups_of(story: DataFrame) -> DataFrame:
    """`run_key, consumer_group`: the groups that the histories know."""
    named = story.where("data.group IS NOT NULL")
    return named.select("run_key", fn.col("data.group").alias("consumer_group")).distinct()


def wanted_of(story: DataFrame) -> DataFrame:
    """`run_key, consumer_group, topic`: of every message that was sent there, the group has a row.

    As in `assertions.oracle.fates`, of the members that ever started; which group the others are of, only the
    scenario tells.
    """
    members = story.where("kind = 'consumer-started'").select(
        "run_key", "node", fn.col("data.group").alias("consumer_group")
    )
    starting = fn.when(fn.col("kind") == "consumer-starting", fn.map_keys("data.subscribe"))
    later = fn.when(fn.col("kind") == "subscribed", fn.array("data.topic"))
    topics = story.where(fn.col("kind").isin("consumer-starting", "subscribed")).select(
        "run_key", "node", fn.explode(fn.coalesce(starting, later)).alias("topic")
    )
    return members.join(topics, ["run_key", "node"]).drop("node").distinct()


def sent_of(added: DataFrame) -> DataFrame:
    """`run_key, topic, sent, sent_keys`: how many messages were sent, and the XOR of their keys' hashes."""
    sent = added.where("kind = 'sent'").groupBy("run_key", "topic")
    return sent.agg(fn.sum("event_count").alias("sent"), fn.bit_xor("keys_hash").alias("sent_keys"))


def of_messages(messages: DataFrame, added: DataFrame, story: DataFrame) -> DataFrame:
    """One row a run, of rows of the table `messages`, and of its history: `totals`, and `story`.

    `missing_messages` and `surplus_messages` are rows that should be there and aren't, and the other way round;
    `other_keys` groups that have as many as were sent, but others.
    """
    by_topic = messages.groupBy(*_SUBJECT).agg(
        fn.count(fn.lit(1)).alias("rows"),
        fn.bit_xor(fn.xxhash64("message_key")).alias("keys"),
        fn.count_if(_is(BROKEN)).alias("broken"),
        fn.count_if(_is(OTHER_SCHEMA)).alias("other_schema"),
        fn.max(fn.array_max("events")).alias("last_event"),
        fn.bit_xor(fn.xxhash64(*(name for name in MESSAGES.columns if name not in _OF_THE_INGEST))).alias(
            "hash"
        ),
    )
    known = groups_of(story).withColumn("known", fn.lit(True))
    rows, sent = (fn.coalesce(name, fn.lit(0)) for name in ("rows", "sent"))
    return (
        by_topic.join(wanted_of(story), list(_SUBJECT), "full_outer")
        .join(fn.broadcast(sent_of(added)), ["run_key", "topic"], "left")
        .join(fn.broadcast(known), ["run_key", "consumer_group"], "left")
        .groupBy("run_key")
        .agg(
            fn.sum("rows").alias("message_count"),
            fn.sum(fn.greatest(sent - rows, fn.lit(0))).alias("missing_messages"),
            fn.sum(fn.greatest(rows - sent, fn.lit(0))).alias("surplus_messages"),
            fn.count_if((rows == sent) & (fn.col("keys") != fn.col("sent_keys"))).alias("other_keys"),
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


_COUNTS = ("event_count", "broken_events", "events_of_other_schema", "events_of_another_run")
_OF_THE_INGEST = ("run_key", "batch")
_SUBJECT = ("run_key", "consumer_group", "topic")


def _of_kinds(count: str, *kinds: str) -> Column:
    return fn.when(fn.col("kind").isin(*kinds), fn.col(count)).otherwise(fn.lit(0))


def _is(problem: str) -> Column:
    return fn.col("message_class").isNull() & (fn.col("reason") == problem)
