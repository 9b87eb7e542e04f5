"""The store's tables, of any size, with a known truth: made by Spark from nothing but numbers of runs.

Every value is a function of the run's number, the message's number and the seed, so that the same world gives the
same store however Spark divides the work.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import ArrayType, IntegerType, StringType, StructField, StructType

from spark_reports.tables import (
    CHECKS,
    CONDITIONS,
    FAULTS,
    FINDINGS,
    MESSAGES,
    OFFSETS,
    OWNERSHIP,
    QUARANTINE,
)
from spark_reports.tables import RUNS, SUBSCRIPTIONS, TIMINGS, Table
from tests.benchmarks.spark.fit import Sample
from tests.benchmarks.spark.world import DECK, SLOW_FROM_MS, Cell, World

FIRST_RUN = "2025-11-21T00:00:00"
A_YEAR_S = 365 * 86_400
ERRORS = 0.004
"""The share of runs that end as errors, of the environment and of the harness in equal parts."""
STRAY = 0.01
"""The share of messages whose class is drawn; the others' follow from the place, as the queues decide in reality."""
IN_TURN = 617
"""Steps through a deck of 1000 so that any number of messages has about the deck's shares."""
LOST = Sample(
    "g",
    "orders",
    "tagA",
    "a",
    "tagA",
    "lost",
    (),
    "both filters match, its offset was passed",
    "CONSUMED",
    None,
    6,
)

_TEXTS = ArrayType(StringType(), False)
_SAMPLE = StructType(
    [
        StructField("consumer_group", StringType()),
        StructField("topic", StringType()),
        StructField("tag", StringType()),
        StructField("owner", StringType()),
        StructField("subscription", StringType()),
        StructField("message_class", StringType()),
        StructField("deliveries", _TEXTS),
        StructField("reason", StringType()),
        StructField("broker_track", StringType()),
        StructField("dashboard_track", StringType()),
    ]
)
_CELLS = (
    StructType()
    .add("number", "integer")
    .add("scenario", "string")
    .add("client", "string")
    .add("rocketmq", "string")
    .add("cluster", "string")
    .add("timing", "string")
    .add("title", "string")
    .add("expected", "string")
    .add("weight", "double")
    .add("as_expected", "double")
    .add("change_at", "double")
    .add("as_expected_after", "double")
    .add("as_expected_busy", "double")
    .add("slow", "double")
    .add("log_mean", "double")
    .add("log_spread", "double")
    .add("run_seconds", "double")
    .add("run_load", "double")
    .add("run_busy", "double")
    .add("queues", _TEXTS)
    .add("deck", ArrayType(IntegerType(), False))
    .add("samples", ArrayType(_SAMPLE, False))
)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is made."""

    messages: int
    """About so many; each run has as many more or fewer as its scenario has in reality."""
    per_run: int = 500
    per_batch: int = 1_000_000
    """Messages of one ingest: the batches of the store."""

    @property
    def runs(self) -> int:
        """So many runs."""
        return max(1, math.ceil(self.messages / self.per_run))

    @property
    def batches(self) -> int:
        """So many ingests; four at least, as nobody's store has just one."""
        return min(self.runs, max(4, math.ceil(self.messages / self.per_batch)))


def uniform(salt: int, *of: str) -> Column:
    """Of [0, 1), decided by the values of these columns."""
    drawn = sql.xxhash64(sql.lit(salt), *(sql.col(name) for name in of))
    return drawn.bitwiseAND(sql.lit(2**53 - 1)) / sql.lit(float(2**53))


def normal(salt: int, *of: str) -> Column:
    """Of the standard normal distribution (Box-Muller)."""
    radius = sql.sqrt(sql.lit(-2.0) * sql.log(sql.lit(1.0) - uniform(salt, *of)))
    return radius * sql.cos(sql.lit(2 * math.pi) * uniform(salt + 1, *of))


def write_store(spark: SparkSession, uri: str, world: World, size: Size, seed: int = 0) -> None:
    """Write all tables of a store, and the truth beside them.

    Args:
        uri: a folder on this machine that does not exist yet.
    """
    store = Store.create(spark, uri)
    for table, rows in all_tables(all_runs(spark, world, size, seed), seed):
        store.append(table, rows.select(*(_exactly(field) for field in table.schema.fields)))
    (Path(uri) / "truth.json").write_text(world.truth_text(), encoding="utf-8")


def _exactly(field: StructField) -> Column:
    """A column of the type that its table has; arrays are made so, as Spark casts no nulls away."""
    column = sql.col(field.name)
    return column if isinstance(field.dataType, ArrayType) else column.cast(field.dataType).alias(field.name)


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


def deck_of(cell: Cell) -> tuple[list[int], list[Sample]]:
    """Numbers of samples, one of which is drawn for each message; and the samples."""
    samples: list[Sample] = []
    deck: list[int] = []
    passed = 0.0
    for name, share in sorted(cell.shares.items()):
        some = cell.profile.samples.get(name) or (LOST,)
        passed += share
        missing = round(passed * DECK) - len(deck)
        deck += [len(samples) + number % len(some) for number in range(missing)]
        samples += some
    return deck, samples


def cells_of(spark: SparkSession, world: World) -> DataFrame:
    """One row per cell, with all that decides what its runs are like."""
    mean = sum(cell.profile.messages for cell in world.cells) / len(world.cells)
    rows = []
    for cell in world.cells:
        profile = cell.profile
        deck, samples = deck_of(cell)
        rows.append(
            (
                cell.number, cell.scenario, cell.client, cell.rocketmq, profile.cluster, profile.timing, profile.title,
                profile.expected, profile.messages / mean, cell.as_expected, cell.change_at, cell.as_expected_after,
                cell.as_expected_busy, cell.slow, profile.delivery_log_mean, profile.delivery_log_spread,
                profile.seconds, profile.load, profile.busy_share, list(profile.queues), deck,
                [tuple(getattr(one, name) for name in _SAMPLE.fieldNames()) for one in samples],
            )
        )  # fmt: skip
    return spark.createDataFrame(rows, _CELLS)


def all_runs(spark: SparkSession, world: World, size: Size, seed: int) -> DataFrame:
    """One row per run: the columns of `runs`, and those of its cell that its facts are made from."""
    cells, per_batch = len(world.cells), math.ceil(size.runs / size.batches)
    numbered = (
        spark.range(0, size.runs, 1, size.batches)
        .withColumn("number", (sql.col("id") % cells).cast("int"))
        .withColumn("nth", sql.floor(sql.col("id") / cells))
        .join(sql.broadcast(cells_of(spark, world)), "number")
    )
    started = sql.lit(FIRST_RUN).cast("timestamp").cast("double") + sql.col("id") * (A_YEAR_S / size.runs)
    drawn = numbered.select(
        "*",
        sql.concat(
            sql.lit("mw"), sql.lpad(sql.lower(sql.conv(sql.col("id") + seed * size.runs, 10, 36)), 12, "0")
        ).alias("run"),
        sql.concat(
            sql.lit("batch-"), sql.lpad(sql.floor(sql.col("id") / per_batch).cast("string"), 5, "0")
        ).alias("batch"),
        started.alias("started_s"),
        sql.least(sql.lit(0.999), sql.col("run_busy") * sql.exp(normal(seed + 11, "id") * 0.4)).alias(
            "busy_share"
        ),
        (sql.col("run_load") * sql.exp(normal(seed + 13, "id") * 0.3)).alias("load_start"),
        (sql.col("run_seconds") * sql.exp(normal(seed + 15, "id") * 0.2)).alias("seconds"),
        uniform(seed + 17, "id").alias("luck"),
        uniform(seed + 18, "id").alias("mishap"),
        sql.greatest(sql.lit(1), sql.round(sql.col("weight") * size.per_run))
        .cast("long")
        .alias("message_count"),
    )
    changed = sql.col("nth") >= sql.col("change_at") * (size.runs / cells)
    as_expected = (
        sql.when(
            (sql.col("busy_share") > 0.9) & sql.col("as_expected_busy").isNotNull(),
            sql.col("as_expected_busy"),
        )
        .when(sql.coalesce(changed, sql.lit(False)), sql.col("as_expected_after"))
        .otherwise(sql.col("as_expected"))
    )
    well = sql.col("luck") < as_expected
    error = sql.col("mishap") < ERRORS
    other = sql.when(sql.col("expected") == "reproduced", "not-reproduced").otherwise("reproduced")
    ended = drawn.withColumn("error", error).withColumn("well", well)
    return ended.select(
        "id", "queues", "deck", "samples", "slow", "log_mean", "log_spread", "message_count", "well", "error", "scenario",
        "expected", "title", "client", "rocketmq", "cluster", "timing", "run", "batch", "seconds", "busy_share", "load_start",
        sql.xxhash64("run", "batch").alias("run_key"),
        sql.concat(sql.lit("file:///runs/"), sql.col("scenario"), sql.lit("/"), sql.col("run")).alias("source"),
        sql.md5(sql.col("run").cast("binary")).alias("digest"),
        sql.timestamp_seconds(sql.col("started_s") + 3600).alias("ingested"),
        sql.col("id").alias("seed"),
        sql.concat_ws("", sql.lit("2.0")).alias("client_version"),
        sql.lit("host").alias("workers"),
        sql.lit("0.1.0").alias("harness_version"),
        sql.lit(17).alias("java_version"),
        sql.concat(sql.lit("machine-"), sql.col("id") % 4).alias("host"),
        sql.lit(2).alias("processors"),
        sql.lit(24_105).alias("memory_mib"),
        sql.lit(None).cast("map<string, bigint>").alias("timers_ms"),
        sql.timestamp_seconds("started_s").alias("started"),
        sql.timestamp_seconds(sql.col("started_s") + sql.col("seconds")).alias("ended"),
        sql.lit(0).alias("clock_jump_ms"),
        sql.when(sql.col("error"), "error")
        .when(sql.col("well"), sql.coalesce(sql.col("expected"), sql.lit("not-reproduced")))
        .when(sql.col("luck") * 997 % 1 < 0.3, "inconclusive")
        .otherwise(other)
        .alias("outcome"),
        sql.when(sql.col("expected").isNull(), sql.lit(None)).otherwise(sql.col("well") & ~sql.col("error")).alias("as_expected"),
        sql.when(sql.col("error"), "no broker answered within 10 s")
        .when(sql.col("well"), "every check holds")
        .otherwise("a check does not hold")
        .alias("reason"),
        sql.when(sql.col("error"), sql.when(sql.col("mishap") < ERRORS / 2, "environment").otherwise("harness")).alias("trouble"),
        (sql.col("load_start") * 1.1).alias("load_end"),
        (sql.col("id") % 4).cast("int").alias("beside"),
        (sql.col("message_count") * 5 + 40).alias("event_count"),
    )  # fmt: skip


def each(runs: DataFrame, count: Column | int, *also: str) -> DataFrame:
    """So many rows for each run, numbered from 0 as `i`."""
    number = sql.lit(count) if isinstance(count, int) else count
    return runs.select(
        "id",
        "run_key",
        "run",
        "batch",
        *also,
        sql.explode(sql.sequence(sql.lit(0), (number - 1).cast("int"))).alias("i"),
    )


def messages(runs: DataFrame, seed: int) -> DataFrame:
    """`messages`."""
    many = each(runs, sql.col("message_count"), "queues", "deck", "samples", "slow", "log_mean", "log_spread")
    by_chance = sql.floor(uniform(seed + 21, "id", "i") * DECK)
    in_turn = sql.col("i") * IN_TURN % DECK
    at = sql.when(uniform(seed + 20, "id", "i") < STRAY, by_chance).otherwise(in_turn)
    drawn = many.withColumn("s", sql.get("samples", sql.get("deck", at.cast("int"))))
    typical = sql.exp(sql.col("log_mean") + sql.col("log_spread") * normal(seed + 22, "id", "i"))
    late = sql.lit(SLOW_FROM_MS) * (1 + uniform(seed + 24, "id", "i"))
    ms = sql.when(uniform(seed + 25, "id", "i") < sql.col("slow"), late).otherwise(typical)
    return drawn.select(
        "run_key", "run", "batch", "s.*",
        sql.concat("s.topic", sql.lit("-"), sql.col("i") + 1).alias("message_key"),
        sql.get("queues", sql.col("i") % sql.size("queues")).alias("queue"),
        sql.floor(sql.col("i") / sql.size("queues")).alias("queue_offset"),
        sql.when(sql.size("s.deliveries") > 0, sql.round(ms, 3)).alias("delivery_ms"),
        sql.array(sql.lit(15), sql.lit(20), sql.col("i") * 5 + 29, sql.col("i") * 5 + 31, sql.col("i") * 5 + 32).alias("events"),
    )  # fmt: skip


def subscriptions(runs: DataFrame, seed: int) -> DataFrame:
    """`subscriptions`: two members take turns."""
    expression, previous = (sql.when(sql.col("i") % 2 == at, "tagA").otherwise("tagB") for at in (0, 1))
    return each(runs, 4).select(
        "run_key", "run", "batch",
        (sql.col("i") * 6 + 14).alias("n"),
        (sql.lit(60.0) + sql.col("i") * 500 + uniform(seed + 31, "id", "i") * 400).alias("at_ms"),
        sql.lit("g").alias("consumer_group"), sql.lit("broker-a").alias("broker"), sql.lit("orders").alias("topic"),
        expression.alias("expression"), sql.lit("TAG").alias("expression_type"),
        (sql.lit(1_795_267_710_172) + sql.col("id") * 1000 + sql.col("i")).alias("sub_version"),
        sql.when(sql.col("i") > 0, previous).alias("previous_expression"), sql.lit(2).alias("members"),
    )  # fmt: skip


def ownership(runs: DataFrame, seed: int) -> DataFrame:
    """`ownership`: each of two members gets its half, and keeps it."""
    return each(runs, 4, "queues").select(
        "run_key", "run", "batch",
        (sql.col("i") * 6 + 15).alias("n"),
        (sql.lit(70.0) + sql.col("i") * 500 + uniform(seed + 41, "id", "i") * 400).alias("at_ms"),
        sql.lit("g").alias("consumer_group"), sql.when(sql.col("i") % 2 == 0, "a").otherwise("b").alias("consumer"),
        sql.lit("orders").alias("topic"), sql.col("queues"), sql.slice("queues", 1, 0).alias("previous_queues"),
    )  # fmt: skip


def offsets(runs: DataFrame) -> DataFrame:
    """`offsets`: three looks at each queue."""
    looks = each(runs, sql.size("queues") * 3, "queues", "message_count")
    share = sql.floor(sql.col("message_count") / sql.size("queues"))
    return looks.select(
        "run_key", "run", "batch",
        (sql.col("i") + 40).alias("n"), (sql.col("i") * 100.0).alias("at_ms"),
        sql.when(sql.col("i") < sql.size("queues") * 2, "settle").otherwise("end").alias("moment"),
        sql.lit("g").alias("consumer_group"), sql.lit("orders").alias("topic"),
        sql.get("queues", sql.col("i") % sql.size("queues")).alias("queue"),
        share.alias("max_offset"), sql.when(sql.col("i") >= sql.size("queues"), share).alias("consumer_offset"),
    )  # fmt: skip


def faults(runs: DataFrame, seed: int) -> DataFrame:
    """`faults`: one in every run of a scenario that kills somebody."""
    at = sql.lit(300.0) + uniform(seed + 51, "id", "i") * 200
    return each(runs.where(sql.col("scenario").startswith("kill")), 1).select(
        "run_key", "run", "batch", sql.lit(50).alias("n"),
        sql.lit("kill").alias("fault"), sql.lit("b").alias("target"), at.alias("injected_ms"),
        (at + 5).alias("effective_ms"), sql.lit(None).alias("healed_ms"), sql.lit("the process is gone").alias("proof"),
    )  # fmt: skip


def checks(runs: DataFrame) -> DataFrame:
    """`checks`: two of `anomaly`, one of `healthy`, one of `also`; some don't hold in a run that is not as expected."""
    section = sql.element_at(
        sql.array(*map(sql.lit, ("anomaly", "anomaly", "healthy", "also"))), sql.col("i") + 1
    )
    holds = (
        sql.when(sql.col("error"), "unknown")
        .when((section == "healthy") == sql.col("well"), "no")
        .otherwise("yes")
    )
    return each(runs, 4, "well", "error").select(
        "run_key", "run", "batch", sql.col("i").alias("position"), section.alias("section"),
        sql.concat(sql.lit("delivered to member "), sql.col("i")).alias("name"), holds.alias("holds"),
        sql.lit("4 messages delivered to $holder, all from queues of $holder").alias("expected"),
        sql.concat((sql.col("id") % 5).cast("string"), sql.lit(" of 8 sent")).alias("observed"),
        sql.concat(sql.lit("B0"), sql.col("i") + 1).alias("claim"), (sql.col("i") + 26).alias("line"),
        sql.array(sql.lit(47), sql.lit(49)).alias("events"),
    )  # fmt: skip


def findings(runs: DataFrame) -> DataFrame:
    """`findings`: of each run that is not as expected one cause, the scenario's own, and of errors the same of all."""
    cause = sql.concat(sql.lit("delivered to $holder of "), sql.col("scenario"), sql.lit(": <n> of <n> sent"))
    signature = sql.when(sql.col("error"), "no broker answered within <duration>").otherwise(cause)
    text = sql.regexp_replace(signature, "<n>", (sql.col("id") % 9).cast("string"))
    return each(runs.where(~sql.col("well") | sql.col("error")), 1, "error", "scenario").select(
        "run_key", "run", "batch", sql.when(sql.col("error"), "trouble").otherwise("check").alias("kind"),
        sql.when(sql.col("error"), "environment").otherwise("product").alias("side"), sql.lit("harness").alias("node"),
        text.alias("text"), signature.alias("signature"), sql.lit(1).alias("occurrences"),
        sql.array(sql.lit(47)).alias("events"),
    )  # fmt: skip


def timings(runs: DataFrame, seed: int) -> DataFrame:
    """`timings`: two intervals of each kind, about as long as a compressed timer makes them."""
    kinds = ("rebalance", "subscription-flip", "offset-correction")
    what = sql.element_at(sql.array(*map(sql.lit, kinds)), sql.col("i") % 3 + 1)
    return each(runs, 6).select(
        "run_key", "run", "batch", what.alias("what"), sql.lit("consumer-started").alias("cause"),
        sql.lit("g").alias("consumer_group"), sql.when(sql.col("i") < 3, "a").otherwise("b").alias("subject"),
        (sql.lit(300.0) * sql.exp(normal(seed + 61, "id", "i") * 0.5)).alias("ms"),
        (sql.col("i") + 7).alias("from_n"), (sql.col("i") + 20).alias("to_n"),
    )  # fmt: skip


def conditions(runs: DataFrame) -> DataFrame:
    """`conditions`."""
    values = {
        "load_start": sql.col("load_start"),
        "busy_share": sql.col("busy_share"),
        "beside": (sql.col("id") % 4).cast("double"),
        "start_gap_ms": uniform(71, "id") * 100,
    }
    pairs = sql.array(
        *(sql.struct(sql.lit(name).alias("name"), value.alias("value")) for name, value in values.items())
    )
    return each(runs, len(values), "load_start", "busy_share").select(
        "run_key", "run", "batch", sql.get(pairs, sql.col("i")).alias("pair")
    ).select("run_key", "run", "batch", "pair.*")  # fmt: skip
