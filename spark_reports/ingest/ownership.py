"""The table `ownership`: changes of the queues that members had."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as fn

from rocketchaos.spark_reports.contract import QUEUES
from rocketchaos.spark_reports.ingest.shape import shaped
from rocketchaos.spark_reports.tables import OWNERSHIP


def ownership(events: DataFrame) -> DataFrame:
    """The rows of the table, of the scenario's topics; a member without any queue of a topic has an empty list."""
    looks = events.where("kind = 'ownership-observed'").select(
        "run_key",
        "run",
        "batch",
        "n",
        "at_ms",
        fn.col("data.group").alias("consumer_group"),
        "data.consumer",
        "data.subscriptions",
        fn.from_json("data.queues", QUEUES).alias("owned"),
    )
    named = fn.array_union(
        fn.coalesce(fn.map_keys("subscriptions"), fn.array()),
        fn.coalesce(fn.transform("owned", lambda one: one["topic"]), fn.array()),
    )
    topics = (
        looks.select("run_key", "consumer_group", "consumer", fn.explode(named).alias("topic"))
        .where("topic NOT LIKE '\\%%'")
        .distinct()
    )
    queues = fn.transform(
        fn.filter("owned", lambda one: one["topic"] == fn.col("topic")),
        lambda one: fn.concat_ws(":", one["broker"], one["queue_id"].cast("string")),
    )
    order = Window.partitionBy("run_key", "consumer_group", "consumer", "topic").orderBy("n")
    return (
        looks.join(topics, ["run_key", "consumer_group", "consumer"])
        .withColumn("queues", fn.sort_array(fn.coalesce(queues, fn.array())))
        .withColumn("previous_queues", fn.lag("queues").over(order))
        .where("NOT (queues <=> previous_queues)")
        .transform(shaped, OWNERSHIP)
    )
