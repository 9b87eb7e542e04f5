"""Runs of a world, any number of them: made by Spark from nothing but their numbers.

Every value is a function of the run's number and the seed, so that the same world gives the same runs however
Spark divides the work.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import ArrayType, IntegerType, LongType, MapType, StringType, StructField, StructType

from rocketchaos.harness.rocketmq.timers import timers_ms
from rocketchaos.harness.rocketmq.timing_profiles import PROFILES
from tests.benchmarks.spark.fit import Sample
from tests.benchmarks.spark.world import DECK, Cell, World

FIRST_RUN = "2025-11-21T00:00:00"
A_YEAR_S = 365 * 86_400
BUSY = 0.7
"""A standard normal deviate is greater in 0.242 of all runs: those in which the machine is called busy."""
ERRORS = 0.004
"""The share of runs that end as errors, of the environment and of the harness in equal parts."""
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
    .add("client_version", "string")
    .add("timers_ms", MapType(StringType(), LongType()))
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
    drawn = f.xxhash64(f.lit(salt), *(f.col(name) for name in of))
    return drawn.bitwiseAND(f.lit(2**53 - 1)) / f.lit(float(2**53))


def normal(salt: int, *of: str) -> Column:
    """Of the standard normal distribution (Box-Muller)."""
    radius = f.sqrt(f.lit(-2.0) * f.log(f.lit(1.0) - uniform(salt, *of)))
    return radius * f.cos(f.lit(2 * math.pi) * uniform(salt + 1, *of))


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
                cell.number,
                cell.scenario,
                cell.client,
                cell.rocketmq,
                profile.cluster,
                profile.timing,
                profile.title,
                profile.expected,
                profile.messages / mean,
                cell.as_expected,
                cell.change_at,
                cell.as_expected_after,
                cell.as_expected_busy,
                cell.slow,
                profile.delivery_log_mean,
                profile.delivery_log_spread,
                profile.seconds,
                profile.load,
                profile.busy_share,
                cell.client_version,
                timers_ms(PROFILES[profile.timing], cell.rocketmq, [(cell.kind, cell.client_version)]),
                list(profile.queues),
                deck,
                [tuple(getattr(sample, name) for name in _SAMPLE.fieldNames()) for sample in samples],
            )
        )
    return spark.createDataFrame(rows, _CELLS)


def all_runs(spark: SparkSession, world: World, size: Size, seed: int) -> DataFrame:
    """One row per run: the columns of `runs`, and those of its cell that its facts are made from."""
    return _drawn(spark, world, size, seed).transform(_ended, size.runs / len(world.cells)).transform(_told)


def _drawn(spark: SparkSession, world: World, size: Size, seed: int) -> DataFrame:
    """Every run with its cell, and what chance decides of it."""
    cells, per_batch = len(world.cells), math.ceil(size.runs / size.batches)
    numbered = (
        spark.range(0, size.runs, 1, size.batches)
        .withColumn("number", (f.col("id") % cells).cast("int"))
        .withColumn("nth", f.floor(f.col("id") / cells))
        .join(f.broadcast(cells_of(spark, world)), "number")
    )
    started = f.lit(FIRST_RUN).cast("timestamp").cast("double") + f.col("id") * (A_YEAR_S / size.runs)
    return numbered.select(
        "*",
        f.concat(f.lit("mw"), f.lpad(f.lower(f.conv(f.col("id") + seed * size.runs, 10, 36)), 12, "0")).alias(
            "run"
        ),
        f.concat(f.lit("batch-"), f.lpad(f.floor(f.col("id") / per_batch).cast("string"), 5, "0")).alias(
            "batch"
        ),
        started.alias("started_s"),
        normal(seed + 11, "id").alias("bustle"),
        # By its odds, so that it stays a share, and two runs never look equally busy that aren't.
        (1 / (1 + (1 / f.least(f.lit(0.98), f.col("run_busy")) - 1) * f.exp(-normal(seed + 11, "id")))).alias(
            "busy_share"
        ),
        (f.col("run_load") * f.exp(normal(seed + 13, "id") * 0.3)).alias("load_start"),
        (f.col("run_seconds") * f.exp(normal(seed + 15, "id") * 0.2)).alias("seconds"),
        uniform(seed + 17, "id").alias("luck"),
        uniform(seed + 18, "id").alias("mishap"),
        f.greatest(f.lit(1), f.round(f.col("weight") * size.per_run)).cast("long").alias("message_count"),
    )


def _ended(drawn: DataFrame, of_each_cell: float) -> DataFrame:
    """Whether each run ended `well`, or by an `error`."""
    changed = f.col("nth") >= f.col("change_at") * of_each_cell
    as_expected = (
        f.when(
            (f.col("bustle") > BUSY) & f.col("as_expected_busy").isNotNull(),
            f.col("as_expected_busy"),
        )
        .when(f.coalesce(changed, f.lit(False)), f.col("as_expected_after"))
        .otherwise(f.col("as_expected"))
    )
    well = f.col("luck") < as_expected
    error = f.col("mishap") < ERRORS
    return drawn.withColumn("error", error).withColumn("well", well)


def _told(ended: DataFrame) -> DataFrame:
    """As `runs` tells it, with the columns of the cell that facts are made from."""
    other = f.when(f.col("expected") == "reproduced", "not-reproduced").otherwise("reproduced")
    return ended.select(
        "id",
        "queues",
        "deck",
        "samples",
        "slow",
        "log_mean",
        "log_spread",
        "message_count",
        "well",
        "error",
        "scenario",
        "expected",
        "title",
        "client",
        "rocketmq",
        "cluster",
        "timing",
        "run",
        "batch",
        "seconds",
        "busy_share",
        "load_start",
        f.xxhash64("run", "batch").alias("run_key"),
        f.concat(f.lit("file:///runs/"), f.col("scenario"), f.lit("/"), f.col("run")).alias("source"),
        f.md5(f.col("run").cast("binary")).alias("digest"),
        f.timestamp_seconds(f.col("started_s") + 3600).alias("ingested"),
        f.col("id").alias("seed"),
        "client_version",
        f.lit("host").alias("workers"),
        f.lit("0.1.0").alias("harness_version"),
        f.lit(17).alias("java_version"),
        f.concat(f.lit("machine-"), f.col("id") % 4).alias("host"),
        f.lit(2).alias("processors"),
        f.lit(24_105).alias("memory_mib"),
        f.concat(f.lit("team-"), f.length("scenario") % 3).alias("scenario_owner"),
        "timers_ms",
        f.md5(f.concat("run", f.lit("files")).cast("binary")).alias("listing"),
        f.timestamp_seconds(f.col("started_s") + f.col("seconds")).alias("judged"),
        f.timestamp_seconds("started_s").alias("started"),
        f.timestamp_seconds(f.col("started_s") + f.col("seconds")).alias("ended"),
        f.lit(0).alias("clock_jump_ms"),
        f.when(f.col("error"), "error")
        .when(f.col("well"), f.coalesce(f.col("expected"), f.lit("not-reproduced")))
        .when(f.col("luck") * 997 % 1 < 0.3, "inconclusive")
        .otherwise(other)
        .alias("outcome"),
        f.when(f.col("expected").isNull(), f.lit(None))
        .otherwise(f.col("well") & ~f.col("error"))
        .alias("as_expected"),
        f.when(f.col("error"), "no broker answered within 10 s")
        .when(f.col("well"), "every check holds")
        .otherwise("a check does not hold")
        .alias("reason"),
        f.when(
            f.col("error"), f.when(f.col("mishap") < ERRORS / 2, "environment").otherwise("harness")
        ).alias("trouble"),
        (f.col("load_start") * 1.1).alias("load_end"),
        (f.col("id") % 4).cast("int").alias("beside"),
        (f.col("message_count") * 5 + 40).alias("event_count"),
    )
