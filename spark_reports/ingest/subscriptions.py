"""The table `subscriptions`: changes of what brokers held."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as fn

from rocketchaos.spark_reports.ingest.shape import shaped
from rocketchaos.spark_reports.tables import SUBSCRIPTIONS


def subscriptions(events: DataFrame) -> DataFrame:
    """The rows of the table, of the scenario's topics; what a broker has not held yet is no row."""
    looks = events.where("kind = 'subscription-observed'").select(
        "run_key",
        "run",
        "batch",
        "n",
        "at_ms",
        fn.col("data.group").alias("consumer_group"),
        "data.broker",
        "data.subscriptions",
        fn.coalesce(fn.size("data.clients"), fn.lit(0)).alias("members"),
    )
    topics = (
        looks.select("run_key", "consumer_group", fn.explode(fn.map_keys("subscriptions")).alias("topic"))
        .where("topic NOT LIKE '\\%%'")
        .distinct()
    )
    held = fn.element_at("subscriptions", fn.col("topic"))
    order = Window.partitionBy("run_key", "consumer_group", "broker", "topic").orderBy("n")
    fields = {"expression": "expression", "expression_type": "type", "sub_version": "sub_version"}
    rows = looks.join(topics, ["run_key", "consumer_group"]).withColumns(
        {name: held[field] for name, field in fields.items()}
    )
    before = {f"previous_{name}": fn.lag(name).over(order) for name in fields}
    same = fn.lit(True)
    for name in fields:
        same &= fn.col(name).eqNullSafe(fn.col(f"previous_{name}"))
    return rows.withColumns(before).where(~same).transform(shaped, SUBSCRIPTIONS)
