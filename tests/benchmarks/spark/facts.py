"""The store's tables, of any size, with a known truth: what happened in the runs of a world."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import ArrayType, StructField

from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.tables import (
    CHECKS,
    CONDITIONS,
    FAULTS,
    FINDINGS,
    MESSAGES,
    OFFSETS,
    OWNERSHIP,
    RUNS,
    SUBSCRIPTIONS,
    TIMINGS,
    Table,
)
from tests.benchmarks.spark.runs import Size, all_runs, normal, uniform
from tests.benchmarks.spark.world import DECK, SLOW_FROM_MS, World

STRAY = 0.01
"""The share of messages whose class is drawn; the others' follow from their place, as queues decide in reality."""
IN_TURN = 617
"""Steps through a deck of 1000 so that any number of messages has about the deck's shares."""


def write_store(spark: SparkSession, uri: str, world: World, size: Size, seed: int = 0) -> None:
    """Write all tables of a store, and the truth beside them.

    Args:
        uri: a folder on this machine that does not exist yet.
    """
    store = Store.create(spark, uri)
    for table, rows in all_tables(all_runs(spark, world, size, seed), seed):
        store.append(table, rows.select(*(_exactly(field) for field in table.schema.fields)))
    (Path(uri) / "truth.json").write_text(world.truth_text(), encoding="utf-8")


def all_tables(runs: DataFrame, seed: int) -> Iterator[tuple[Table, DataFrame]]:
    """Every table of the store with its rows; `runs` last, as in an ingest."""
    yield MESSAGES, messages(runs, seed)
    yield SUBSCRIPTIONS, subscriptions(runs, seed)
    yield OWNERSHIP, ownership(runs, seed)
    yield OFFSETS, offsets(runs)
    yield FAULTS, faults(runs, seed)
    yield CHECKS, checks(runs)
    yield FINDINGS, findings(runs)
    yield TIMINGS, timings(runs, seed)
    yield CONDITIONS, conditions(runs)
    yield RUNS, runs


def _exactly(field: StructField) -> Column:
    """A column of the type that its table has; arrays are made so, as Spark casts no nulls away."""
    column = f.col(field.name)
    return column if isinstance(field.dataType, ArrayType) else column.cast(field.dataType).alias(field.name)


def each(runs: DataFrame, count: Column | int, *also: str) -> DataFrame:
    """So many rows for each run, numbered from 0 as `i`."""
    number = f.lit(count) if isinstance(count, int) else count
    return runs.select(
        "id",
        "run_key",
        "run",
        "batch",
        *also,
        f.explode(f.sequence(f.lit(0), (number - 1).cast("int"))).alias("i"),
    )


def messages(runs: DataFrame, seed: int) -> DataFrame:
    """`messages`."""
    many = each(runs, f.col("message_count"), "queues", "deck", "samples", "slow", "log_mean", "log_spread")
    by_chance = f.floor(uniform(seed + 21, "id", "i") * DECK)
    # Each run begins elsewhere in the deck: few messages a run would otherwise see the same few places of it.
    first = f.floor(uniform(seed + 26, "id") * DECK)
    in_turn = (first + f.col("i") * IN_TURN) % DECK
    at = f.when(uniform(seed + 20, "id", "i") < STRAY, by_chance).otherwise(in_turn)
    drawn = many.withColumn("s", f.get("samples", f.get("deck", at.cast("int"))))
    typical = f.exp(f.col("log_mean") + f.col("log_spread") * normal(seed + 22, "id", "i"))
    late = f.lit(SLOW_FROM_MS) * (1 + uniform(seed + 24, "id", "i"))
    ms = f.when(uniform(seed + 25, "id", "i") < f.col("slow"), late).otherwise(typical)
    return drawn.select(
        "run_key",
        "run",
        "batch",
        "s.*",
        f.concat("s.topic", f.lit("-"), f.col("i") + 1).alias("message_key"),
        f.get("queues", f.col("i") % f.size("queues")).alias("queue"),
        f.floor(f.col("i") / f.size("queues")).alias("queue_offset"),
        f.when(f.size("s.deliveries") > 0, f.round(ms, 3)).alias("delivery_ms"),
        f.array(f.lit(15), f.lit(20), f.col("i") * 5 + 29, f.col("i") * 5 + 31, f.col("i") * 5 + 32).alias(
            "events"
        ),
    )


def subscriptions(runs: DataFrame, seed: int) -> DataFrame:
    """`subscriptions`: two members take turns."""
    expression, previous = (f.when(f.col("i") % 2 == at, "tagA").otherwise("tagB") for at in (0, 1))
    return each(runs, 4).select(
        "run_key",
        "run",
        "batch",
        (f.col("i") * 6 + 14).alias("n"),
        (f.lit(60.0) + f.col("i") * 500 + uniform(seed + 31, "id", "i") * 400).alias("at_ms"),
        f.lit("g").alias("consumer_group"),
        f.lit("broker-a").alias("broker"),
        f.lit("orders").alias("topic"),
        expression.alias("expression"),
        f.lit("TAG").alias("expression_type"),
        (f.lit(1_795_267_710_172) + f.col("id") * 1000 + f.col("i")).alias("sub_version"),
        f.when(f.col("i") > 0, previous).alias("previous_expression"),
        f.lit(2).alias("members"),
    )


def ownership(runs: DataFrame, seed: int) -> DataFrame:
    """`ownership`: each of two members gets its half, and keeps it."""
    return each(runs, 4, "queues").select(
        "run_key",
        "run",
        "batch",
        (f.col("i") * 6 + 15).alias("n"),
        (f.lit(70.0) + f.col("i") * 500 + uniform(seed + 41, "id", "i") * 400).alias("at_ms"),
        f.lit("g").alias("consumer_group"),
        f.when(f.col("i") % 2 == 0, "a").otherwise("b").alias("consumer"),
        f.lit("orders").alias("topic"),
        f.col("queues"),
        f.slice("queues", 1, 0).alias("previous_queues"),
    )


def offsets(runs: DataFrame) -> DataFrame:
    """`offsets`: three looks at each queue."""
    looks = each(runs, f.size("queues") * 3, "queues", "message_count")
    share = f.floor(f.col("message_count") / f.size("queues"))
    return looks.select(
        "run_key",
        "run",
        "batch",
        (f.col("i") + 40).alias("n"),
        (f.col("i") * 100.0).alias("at_ms"),
        f.when(f.col("i") < f.size("queues") * 2, "settle").otherwise("end").alias("moment"),
        f.lit("g").alias("consumer_group"),
        f.lit("orders").alias("topic"),
        f.get("queues", f.col("i") % f.size("queues")).alias("queue"),
        share.alias("max_offset"),
        f.when(f.col("i") >= f.size("queues"), share).alias("consumer_offset"),
    )


def faults(runs: DataFrame, seed: int) -> DataFrame:
    """`faults`: one in every run of a scenario that kills somebody."""
    at = f.lit(300.0) + uniform(seed + 51, "id", "i") * 200
    return each(runs.where(f.col("scenario").startswith("kill")), 1).select(
        "run_key",
        "run",
        "batch",
        f.lit(50).alias("n"),
        f.lit("kill").alias("fault"),
        f.lit("b").alias("target"),
        at.alias("injected_ms"),
        (at + 5).alias("effective_ms"),
        f.lit(None).alias("healed_ms"),
        f.lit("the process is gone").alias("proof"),
    )


def checks(runs: DataFrame) -> DataFrame:
    """`checks`: two of `anomaly`, one of `healthy`, one of `also`; some don't hold in runs that end wrong."""
    section = f.element_at(f.array(*map(f.lit, ("anomaly", "anomaly", "healthy", "also"))), f.col("i") + 1)
    holds = (
        f.when(f.col("error"), "unknown").when((section == "healthy") == f.col("well"), "no").otherwise("yes")
    )
    return each(runs, 4, "well", "error").select(
        "run_key",
        "run",
        "batch",
        f.col("i").alias("position"),
        section.alias("section"),
        f.concat(f.lit('delivered {"to":"'), f.col("i"), f.lit('"}')).alias("id"),
        f.concat(f.lit("delivered to member "), f.col("i")).alias("name"),
        holds.alias("holds"),
        f.lit("4 messages delivered to $holder, all from queues of $holder").alias("expected"),
        f.concat((f.col("id") % 5).cast("string"), f.lit(" of 8 sent")).alias("observed"),
        f.concat(f.lit("B0"), f.col("i") + 1).alias("claim"),
        (f.col("i") + 26).alias("line"),
        f.array(f.lit(47), f.lit(49)).alias("events"),
    )


def findings(runs: DataFrame) -> DataFrame:
    """`findings`: one cause of each run that ended wrong, the scenario's own, and the same one of all errors."""
    cause = f.concat(f.lit("delivered to $holder of "), f.col("scenario"), f.lit(": <n> of <n> sent"))
    signature = f.when(f.col("error"), "no broker answered within <duration>").otherwise(cause)
    text = f.regexp_replace(signature, "<n>", (f.col("id") % 9).cast("string"))
    return each(runs.where(~f.col("well") | f.col("error")), 1, "error", "scenario").select(
        "run_key",
        "run",
        "batch",
        f.when(f.col("error"), "trouble").otherwise("check").alias("kind"),
        f.when(f.col("error"), "environment").otherwise("product").alias("side"),
        f.lit("harness").alias("node"),
        text.alias("text"),
        signature.alias("signature"),
        f.lit(1).alias("occurrences"),
        f.array(f.lit(47)).alias("events"),
    )


def timings(runs: DataFrame, seed: int) -> DataFrame:
    """`timings`: two intervals of each kind, about as long as a compressed timer makes them."""
    kinds = ("rebalance", "subscription-flip", "offset-correction")
    what = f.element_at(f.array(*map(f.lit, kinds)), f.col("i") % 3 + 1)
    took = f.lit(320.0) * f.exp(normal(seed + 61, "id", "i") * 0.5)
    return each(runs, 6).select(
        "run_key",
        "run",
        "batch",
        what.alias("what"),
        f.lit("consumer-started").alias("cause"),
        f.lit("g").alias("consumer_group"),
        f.when(f.col("i") < 3, "a").otherwise("b").alias("subject"),
        took.alias("ms"),
        (took - 20).alias("at_least_ms"),
        f.lit("look").alias("seen_by"),
        (f.col("i") + 7).alias("from_n"),
        (f.col("i") + 20).alias("to_n"),
    )


def conditions(runs: DataFrame) -> DataFrame:
    """`conditions`."""
    values = {
        "load_start": f.col("load_start"),
        "busy_share": f.col("busy_share"),
        "beside": (f.col("id") % 4).cast("double"),
        "start_gap_ms": uniform(71, "id") * 100,
    }
    pairs = f.array(
        *(f.struct(f.lit(name).alias("name"), value.alias("value")) for name, value in values.items())
    )
    return (
        each(runs, len(values), "load_start", "busy_share")
        .select("run_key", "run", "batch", f.get(pairs, f.col("i")).alias("pair"))
        .select("run_key", "run", "batch", "pair.*")
    )
