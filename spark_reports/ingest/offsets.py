"""The table `offsets`: what brokers said of groups' offsets."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from rocketchaos.spark_reports.contract import QUEUES
from rocketchaos.spark_reports.ingest.shape import shaped
from rocketchaos.spark_reports.tables import OFFSETS


def offsets(events: DataFrame) -> DataFrame:
    """The rows of the table."""
    return (
        events.where("kind = 'offsets-observed'")
        .select(
            "run_key",
            "run",
            "batch",
            "n",
            "at_ms",
            "data.moment",
            fn.col("data.group").alias("consumer_group"),
            "data.topic",
            fn.explode(fn.from_json("data.queues", QUEUES)).alias("one"),
        )
        .withColumn("queue", fn.concat_ws(":", "one.broker", fn.col("one.queue_id").cast("string")))
        .withColumns({name: fn.col(f"one.{name}") for name in ("max_offset", "consumer_offset")})
        .transform(shaped, OFFSETS)
    )
