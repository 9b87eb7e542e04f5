"""The history of every run of an ingest, in the form from which the facts are made.

======================  =======================================================================
`run_key, run, batch`   of the run, as in the tables of the store
`n`                     number of the event: its line in `events.jsonl`
`at_ms`                 CLOCK_MONOTONIC since the run's first event, in milliseconds
`wall_ms`               Unix time
`node`                  who saw it: `harness`, `producer`, a consumer's or a server's name
`kind`                  `sent`, `consumer-started`, ...: see `assertions.view`
`data`                  struct of all kinds' fields (`spark_reports.contract.DATA`); `queues` is JSON text
======================  =======================================================================
"""

from __future__ import annotations

from pyspark.sql.types import (
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from spark_reports.contract import DATA

EVENTS = StructType(
    [
        StructField("run_key", LongType()),
        StructField("run", StringType()),
        StructField("batch", StringType()),
        StructField("n", IntegerType()),
        StructField("at_ms", DoubleType()),
        StructField("wall_ms", LongType()),
        StructField("node", StringType()),
        StructField("kind", StringType()),
        StructField("data", DATA),
    ]
)
"""Columns of the history; `spark.createDataFrame(rows, EVENTS)` makes one for a test."""
