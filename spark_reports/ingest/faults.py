"""The table `faults`: each injection, with when it took effect and when it was healed."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from rocketchaos.spark_reports.ingest.shape import shaped
from rocketchaos.spark_reports.tables import FAULTS

_SAME = ("run_key", "run", "batch", "fault", "target")


def faults(events: DataFrame) -> DataFrame:
    """The rows of the table: what follows an injection of the same fault on the same target is of it."""
    order = Window.partitionBy(*_SAME).orderBy("n")
    injection = fn.sum(fn.when(fn.col("kind") == "fault-injected", 1).otherwise(0)).over(order)
    return (
        events.where(fn.col("kind").isin("fault-injected", "fault-effective", "fault-healed"))
        .select("run_key", "run", "batch", "n", "at_ms", "kind", "data.fault", "data.target", "data.proof")
        .withColumn("injection", injection)
        .where("injection > 0")
        .groupBy(*_SAME, "injection")
        .agg(
            fn.min(_where("fault-injected", "n")).alias("n"),
            fn.min(_where("fault-injected", "at_ms")).alias("injected_ms"),
            fn.min(_where("fault-effective", "at_ms")).alias("effective_ms"),
            fn.min(_where("fault-healed", "at_ms")).alias("healed_ms"),
            fn.min(_where("fault-effective", "proof")).alias("proof"),
        )
        .transform(shaped, FAULTS)
    )


def _where(kind: str, column: str) -> Column:
    return fn.when(fn.col("kind") == kind, fn.col(column))
