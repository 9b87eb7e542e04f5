"""How long rebalances, subscription flips and corrections of offsets took: the facts of the table `timings`.

An interval ends with the first look that shows what came of its beginning; how exact that is, is in the fact.
Where the history doesn't tell when it began, or what it began with, there is no fact.

rebalance            from a change of the membership to the first look at a member after which its queues of the
                     scenario's topics stayed as they were until the next change; only where they had changed, or
                     the member is the one that started
subscription-flip    from a change of the membership, or a hand-made heartbeat, to the first look at a broker that
                     shows another expression of the group for a topic than before the change
offset-correction    from the acknowledgement of the last message of a queue, where no listener of the group got
                     it, to the first look that shows the group's offset behind it; only where nothing changed the
                     group in between
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from rocketchaos.spark_reports.contract import QUEUES
from rocketchaos.spark_reports.ingest.changes import KEYS, history_by_group, since
from rocketchaos.spark_reports.ingest.totals import EVENTS_AT_MOST
from rocketchaos.spark_reports.tables import TIMINGS

_MASSES = ("pull-counts-observed", "log-line")
"""Kinds of which a history may have very many besides those of messages, and which change no group."""


def timings(story: DataFrame, added: DataFrame) -> DataFrame:
    """The rows of `timings` of these runs.

    Args:
        story: the history (`spark_reports.ingest.events.EVENTS`), without the events of each message.
        added: all of it, added up: of `spark_reports.ingest.totals.in_time`.
    """
    ends = _ends_of_queues(added)
    few = story.where(~fn.col("kind").isin(*_MASSES)).select(*_PLAIN, "node", "kind", "data")
    history = history_by_group(few.unionByName(ends, allowMissingColumns=True))
    rows = _rebalances(history).unionByName(_flips(history)).unionByName(_corrections(history))
    return rows.select(*(fn.col(one.name).cast(one.dataType) for one in TIMINGS.schema))


_PLAIN = (*KEYS, "n", "at_ms")
_LOOK_BEFORE = ("data.look_began_before_ms", "data.look_before_ms")
"""How long before a look the one before it was begun; in older folders, was answered."""


def _queue_of(one: Column | Mapping[str, Column]) -> Column:
    return fn.concat(one["broker"], fn.lit(":"), one["queue_id"])


def _of_a_scenario(topic: Column) -> Column:
    """Whether it is no retry topic."""
    return ~fn.coalesce(topic.startswith("%"), fn.lit(False))


def _facts(
    rows: DataFrame, what: str, began_n: Column, began_ms: Column, ended: Column, **columns: Column
) -> DataFrame:
    """Facts that end with a look: `n`, `at_ms`, `look_before_ms` where it tells of the look before it, and
    `known_ms`: when the one before it was that was written down, null where there was none.

    What the look before saw was so at some time after it was begun. Older folders tell, or show, only when it was
    answered: so long as an answer took, their `at_least_ms` may be too much.
    """
    before_ms = fn.coalesce(ended["at_ms"] - ended["look_before_ms"], ended["known_ms"], began_ms)
    ms = since(ended["at_ms"], began_ms)
    return rows.select(
        *KEYS,
        "consumer_group",
        fn.lit(what).alias("what"),
        ms.alias("ms"),
        fn.least(since(before_ms, began_ms), ms).alias("at_least_ms"),
        began_n.alias("from_n"),
        ended["n"].alias("to_n"),
        *(column.alias(name) for name, column in columns.items()),
    )


def _rebalances(history: DataFrame) -> DataFrame:
    queues = fn.transform(
        fn.filter(fn.from_json("data.queues", QUEUES), lambda one: _of_a_scenario(one["topic"])),
        lambda one: fn.concat(one["topic"], fn.lit(" "), _queue_of(one)),
    )
    nothing = fn.array().cast("array<string>")
    order = Window.partitionBy("run_key", "consumer_group", "who").orderBy("n")
    looks = (
        history.where((fn.col("kind") == "ownership-observed") & fn.col("owns"))
        .withColumn("queues", fn.array_sort(queues))
        .withColumn("known", fn.lag(fn.struct("at_ms", "queues")).over(order))
        .where(fn.col("stretch").isNotNull())
    )
    look = fn.struct(
        "n",
        "at_ms",
        fn.coalesce(*_LOOK_BEFORE).alias("look_before_ms"),
        fn.col("known.at_ms").alias("known_ms"),
        "queues",
        fn.col("known.queues").alias("known_queues"),
    )
    starts = (fn.col("stretch.cause") == "consumer-started") & (fn.col("stretch.member") == fn.col("who"))
    other = fn.filter("looks", lambda one: one["queues"] != fn.col("final"))
    rows = (
        looks.groupBy(*KEYS, "consumer_group", "who", "stretch", "settled_n")
        .agg(fn.array_sort(fn.collect_list(look)).alias("looks"))
        .withColumn("final", fn.element_at("looks", -1)["queues"])
        # A member that starts, starts with nothing, whatever it had in an earlier life.
        .withColumn("was", fn.when(starts, nothing).otherwise(fn.col("looks")[0]["known_queues"]))
        .withColumn("other_n", fn.coalesce(fn.try_element_at(other, fn.lit(-1))["n"], fn.lit(0)))
        .withColumn("ended", fn.filter("looks", lambda one: one["n"] > fn.col("other_n"))[0])
        .where((fn.col("was") != fn.col("final")) | (fn.col("other_n") > 0))
    )
    return _facts(
        rows,
        "rebalance",
        fn.col("stretch.n"),
        fn.col("stretch.at_ms"),
        fn.col("ended"),
        cause=fn.col("stretch.cause"),
        subject=fn.col("who"),
        seen_by=fn.when(fn.col("settled_n") > fn.col("ended.n"), "settled").otherwise("look"),
    )


def _flips(history: DataFrame) -> DataFrame:
    held = fn.filter(fn.map_keys("data.subscriptions"), _of_a_scenario)
    group = ("run_key", "consumer_group")
    topics = fn.collect_set("held").over(Window.partitionBy(*group))
    expression = fn.try_element_at("data.subscriptions", fn.col("topic"))["expression"]
    stream = Window.partitionBy(*group, "broker", "topic")
    known = fn.lag(fn.struct("at_ms", "expression")).over(stream.orderBy("n"))
    was = fn.first("known").over(Window.partitionBy(*group, "broker", "topic", "stretch").orderBy("n"))
    look = fn.struct(
        "n",
        "at_ms",
        fn.coalesce(*_LOOK_BEFORE).alias("look_before_ms"),
        fn.col("known.at_ms").alias("known_ms"),
    )
    flips = (
        history.where((fn.col("kind") == "subscription-observed") & fn.col("data.online"))
        .withColumn("broker", fn.col("data.broker"))
        .withColumn("held", held)
        .withColumn("topics", topics)
        .withColumn("topic", fn.explode(fn.array_distinct(fn.flatten("topics"))))
        .withColumn("expression", fn.coalesce(expression, fn.lit("")))
        .withColumn("known", known)
        .where(fn.col("stretch").isNotNull())
        .withColumn("was", was)
        .withColumn("was", fn.col("was.expression"))
        .where((fn.col("was") != "") & (fn.col("was") != fn.col("expression")))
        .groupBy(*KEYS, "consumer_group", "broker", "topic", "stretch")
        .agg(fn.min(look).alias("ended"))
    )
    return _facts(
        flips,
        "subscription-flip",
        fn.col("stretch.n"),
        fn.col("stretch.at_ms"),
        fn.col("ended"),
        cause=fn.col("stretch.cause"),
        subject=fn.concat_ws(" ", "broker", "topic"),
        seen_by=fn.lit("look"),
    )


def _ends_of_queues(added: DataFrame) -> DataFrame:
    """Of each queue the last message that was acknowledged to the producer, and the last that each member got.

    Retries come from other queues, and tell nothing of this one.
    """
    return added.where("place IS NOT NULL").select(
        *KEYS,
        "node",
        "kind",
        "topic",
        _queue_of({name: fn.col(name) for name in ("broker", "queue_id")}).alias("queue"),
        fn.expr(f"place DIV {EVENTS_AT_MOST}L").alias("offset"),
        fn.expr(f"CAST(place % {EVENTS_AT_MOST}L AS INT)").alias("n"),
        fn.col("place_ms").alias("at_ms"),
    )


def _corrections(history: DataFrame) -> DataFrame:
    of_queue = Window.partitionBy("run_key", "topic", "queue")
    is_sent, is_look = fn.col("kind") == "sent", fn.col("kind") == "offsets-observed"
    one = fn.explode_outer(fn.when(is_look, fn.from_json("data.queues", QUEUES)))
    passed = fn.col("one.consumer_offset") > fn.col("sent.offset")
    look = fn.struct("n", "at_ms", fn.coalesce(*_LOOK_BEFORE).alias("look_before_ms"), "known_ms", "moved_n")
    known_ms = fn.lag("at_ms").over(
        Window.partitionBy("run_key", "consumer_group", "topic", "queue").orderBy("n")
    )
    rows = (
        history.where(fn.col("kind").isin("sent", "received", "offsets-observed"))
        .withColumn("one", one)
        .withColumn("topic", fn.coalesce("topic", "data.topic"))
        .withColumn("queue", fn.coalesce(fn.col("queue"), _queue_of(fn.col("one"))))
        .withColumn("sent", fn.max(fn.when(is_sent, fn.struct("offset", "n", "at_ms"))).over(of_queue))
        .withColumn(
            "got",
            fn.max(fn.when(fn.col("kind") == "received", fn.col("offset"))).over(
                Window.partitionBy("run_key", "topic", "queue", "consumer_group")
            ),
        )
        .where(is_look & (fn.col("n") > fn.col("sent.n")))
        .where(fn.coalesce(fn.col("got") < fn.col("sent.offset"), fn.lit(True)))
        .withColumn("known_ms", known_ms)
        .where(passed)
        .groupBy(*KEYS, "consumer_group", "topic", "queue", "sent")
        .agg(fn.min(look).alias("ended"))
        .where(fn.coalesce(fn.col("ended.moved_n") < fn.col("sent.n"), fn.lit(True)))
    )
    return _facts(
        rows,
        "offset-correction",
        fn.col("sent.n"),
        fn.col("sent.at_ms"),
        fn.col("ended"),
        cause=fn.lit("sent"),
        subject=fn.concat_ws(" ", "queue", "topic"),
        seen_by=fn.lit("look"),
    )
