"""Histories in the form from which the facts are made: recorded ones, and a test's own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as fn

from rocketchaos.harness.core.history import to_json
from rocketchaos.harness.core.model import Event
from rocketchaos.spark_reports.contract import DATA, EVENT
from rocketchaos.spark_reports.ingest.events import EVENTS, OF_MESSAGES
from rocketchaos.spark_reports.ingest.totals import in_time, totals

GOLDEN = Path(__file__).parents[1] / "golden" / "runs"


def recorded(spark: SparkSession, *names: str) -> DataFrame:
    """The histories of golden runs; `run` is the name of each."""
    lines = spark.read.schema(EVENT).json([str(GOLDEN / name / "events.jsonl") for name in names])
    name = fn.element_at(fn.split("_metadata.file_path", "/"), -2)
    lines = lines.withColumn("run", name).withColumn("batch", fn.lit("batch"))
    begin = fn.min("mono_ns").over(Window.partitionBy("run"))
    return lines.select(
        fn.xxhash64("run", "batch").alias("run_key"),
        "run",
        "batch",
        "n",
        ((fn.col("mono_ns") - begin) / 1e6).alias("at_ms"),
        "wall_ms",
        "node",
        "kind",
        "data",
    ).to(EVENTS)


def story_of(events: DataFrame) -> DataFrame:
    """A history without the events of each message."""
    return events.where(~fn.col("kind").isin(*OF_MESSAGES))


def added_up(events: DataFrame) -> DataFrame:
    """All of a history, added up and in time."""
    lines = events.withColumn("mono_ns", fn.round(fn.col("at_ms") * 1e6).cast("long")).withColumns(
        {name: fn.lit(False) for name in ("broken", "other_schema", "of_another_run")}
    )
    runs = events.select("run_key", "run", "batch").distinct()
    return in_time(totals(lines), runs.withColumn("first_ns", fn.lit(0)))


def recorded_ms(name: str) -> dict[int, float]:
    """When each event of a golden run was, by its number; milliseconds since the first."""
    events = [json.loads(line) for line in (GOLDEN / name / "events.jsonl").read_text().splitlines()]
    begin = min(event["mono_ns"] for event in events)
    return {event["n"]: (event["mono_ns"] - begin) / 1e6 for event in events}


EventRow = tuple[float, str, str, dict[str, Any]]
"""Milliseconds, node, kind, data."""


def events_of(spark: SparkSession, **runs: Sequence[EventRow]) -> DataFrame:
    """Histories of a test's own."""
    lines = [
        json.dumps(to_json(Event(n, int(ms * 1e6), 0, run, node, kind, data)))
        for run, events in runs.items()
        for n, (ms, node, kind, data) in enumerate(events, 1)
    ]
    texts = spark.createDataFrame([Row(value=line) for line in lines])
    parsed = texts.select(fn.from_json("value", EVENT).alias("e")).select("e.*")
    return parsed.select(
        fn.xxhash64("run").alias("run_key"),
        "run",
        fn.lit("batch").alias("batch"),
        "n",
        (fn.col("mono_ns") / 1e6).alias("at_ms"),
        "wall_ms",
        "node",
        "kind",
        fn.col("data").cast(DATA).alias("data"),
    ).to(EVENTS)
