"""When a group changed, and which look at it therefore belongs to which change.

So that no look is counted for the wrong change, the history of a group is cut into stretches: one begins where
something may begin to change the group, which is before it is known to have changed, and ends where the next one
begins. All is done by windows within a run, so that the history is dealt out once, by run.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from rocketchaos.harness.language.fault_registry import ACTIVE_BEFORE_TOLD, TOLD_BY_CONSUMERS

KEYS = ("run_key", "run", "batch")
"""Of a run, as every table of facts has them."""
JOINS = ("consumer-started", "heartbeat-sent")
"""Kinds of events that tell who is a member of what."""
_CAUSES = (*JOINS, "consumer-stopped", "subscribed", "unsubscribed", "hand-made-closed")
_ACTIVE_STEPS = (
    *("subscribe", "unsubscribe", "heartbeat", "broker-config", "reset-offset"),
    *ACTIVE_BEFORE_TOLD,
)
"""Steps from whose beginning on a group may change, before an event tells that it has."""
_FAULTS = ("fault-injected", "fault-effective", "fault-healed")
_SETTLED = ("ownership", "subscription")
"""Conditions that hold only where every member has its share of the queues."""
_SETTLED_BEFORE = r"^(?:ownership|subscription) of (\S+)"
"""Their titles in folders of before conditions had ids. Frozen: the words of that time."""


def history_by_group(events: DataFrame) -> DataFrame:
    """The events, once for every group that they tell of, and what the group was going through.

    Besides the columns of the history:

    `consumer_group`   null where an event tells of none
    `who`              the member that it tells of
    `owns`             whether that has queues of its own, as those don't that share all queues (POP, gRPC)
    `moved_n`          the last event up to this one that changed the group, or may have begun to
    `stretch`          the change whose consequences it may show: `n, at_ms, cause, member`; null where none is
                       known, or there may have been several
    `settled_n`        the last event of the stretch that says that every member has its share of the queues
    """
    who = (
        fn.when(fn.col("kind").isin(*_FAULTS), _targets())
        .when(fn.col("kind") == "ownership-observed", fn.array("data.consumer"))
        .otherwise(fn.array("node"))
    )
    by_member = Window.partitionBy("run_key", "who")
    joins = fn.col("kind").isin(*JOINS)
    shares = fn.when(joins, fn.coalesce(fn.col("data.queues").contains("shared"), fn.lit(False)))
    settled = settled_group()
    told = fn.when(fn.col("kind") != "settled", fn.col("data.group")).otherwise(settled)
    known = (
        events.repartition("run_key")
        .withColumn("who", fn.explode_outer(who))
        .withColumn("owns", ~fn.coalesce(fn.max(shares).over(by_member), fn.lit(False)))
        .withColumn("joined", fn.max(fn.when(joins, fn.col("data.group"))).over(by_member))
        .withColumn("told", fn.coalesce(told, "joined"))
        .drop("joined")
    )
    # What a server suffers, and some steps, may move every group.
    everybody = fn.col("told").isNull() & _may_move()
    lined = (
        known.withColumn("groups", fn.collect_set("told").over(Window.partitionBy("run_key")))
        .withColumn("cause", fn.when(~everybody, _cause()))
        .withColumn("groups", fn.when(everybody, fn.col("groups")).otherwise(fn.array("told")))
        .withColumn("consumer_group", fn.explode_outer("groups"))
        .drop("told", "groups")
    )
    return _with_stretches(lined)


def settled_group() -> Column:
    """Of `settled`: the group whose members all have their shares; null where it says something else."""
    before = fn.regexp_extract("data.condition", _SETTLED_BEFORE, 1)
    return fn.when(fn.col("data.condition_id").isin(*_SETTLED), fn.col("data.subject")).when(
        fn.col("data.condition_id").isNull() & (before != ""), before
    )


def _targets() -> Column:
    sides = fn.coalesce("data.sides", fn.array().cast("array<string>"))
    return fn.array_distinct(fn.concat(fn.array("data.target"), sides))


def _may_move() -> Column:
    steps = (fn.col("kind") == "step-started") & fn.col("data.step").isin(*_ACTIVE_STEPS)
    moves = fn.col("kind").isin("consumer-starting", *_FAULTS, *_CAUSES) | steps
    return moves & ~_was_told()


def _was_told() -> Column:
    terminated = (fn.col("kind") == "fault-effective") & fn.col("data.fault").isin(*TOLD_BY_CONSUMERS)
    return fn.coalesce(terminated, fn.lit(False))


def _cause() -> Column:
    return (
        fn.when(fn.col("kind").isin(*_CAUSES), fn.col("kind"))
        .when((fn.col("kind") == "fault-effective") & ~_was_told(), fn.col("data.fault"))
        .when(fn.col("kind") == "fault-healed", fn.concat(fn.lit("end of "), fn.col("data.fault")))
    )


def _with_stretches(lined: DataFrame) -> DataFrame:
    """Where only something has begun that may change the group, the change that is told next takes it over."""
    # Of what a fault was done to, a member counts, and a server beside it doesn't.
    order = Window.partitionBy("run_key", "consumer_group").orderBy("n", fn.col("cause").isNotNull())
    move = fn.when(_may_move(), fn.struct("n", "at_ms", "cause", fn.col("who").alias("member")))
    behind = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    ahead = order.rowsBetween(1, Window.unboundedFollowing)
    last, following = (
        fn.last(move, ignorenulls=True).over(behind),
        fn.first(move, ignorenulls=True).over(ahead),
    )
    stretch = fn.when(fn.col("last")["cause"].isNotNull(), fn.col("last")).when(
        fn.col("next")["cause"].isNotNull() & fn.col("last").isNotNull(), fn.col("next")
    )
    settled = fn.max(fn.when(fn.col("kind") == "settled", fn.col("n")))
    return (
        lined.withColumn("last", last)
        .withColumn("next", following)
        .withColumn("moved_n", fn.col("last")["n"])
        .withColumn("stretch", stretch)
        .drop("last", "next", "cause")
        .withColumn("settled_n", settled.over(Window.partitionBy("run_key", "consumer_group", "stretch")))
    )


def since(later_ms: Column, earlier_ms: Column) -> Column:
    """How long it took; 0 where it was over before the event that tells of the beginning."""
    return fn.greatest(fn.lit(0.0), later_ms - earlier_ms)
