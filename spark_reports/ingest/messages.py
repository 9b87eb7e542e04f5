"""The table `messages`: what became of each message, by the oracle, and what the witnesses say of it."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from rocketchaos.harness.core.model import SCHEMA_VERSION, MessageClass
from rocketchaos.spark_reports.contract import CORRUPT
from rocketchaos.spark_reports.ingest.events import with_run
from rocketchaos.spark_reports.ingest.shape import shaped
from rocketchaos.spark_reports.ingest.witnesses import KEY
from rocketchaos.spark_reports.tables import MESSAGES

BROKEN, OTHER_SCHEMA = "broken", "other schema"
"""What `reason` says in the row of a line that can't be read: it has no class, and its run is never committed."""
_CLASSES = ", ".join(f"'{one.value}'" for one in MessageClass)


def messages(lines: DataFrame, keys: DataFrame, seen: DataFrame, partitions: int) -> DataFrame:
    """The rows of the table.

    Args:
        lines: of `spark_reports.ingest.reading.message_lines`.
        keys: `place`, `run_key`, `run`, `batch` of the folders.
        seen: of `spark_reports.ingest.witnesses`.
        partitions: into so many the rows are divided.
    """
    rows = lines.transform(with_run, keys, "messages.jsonl").select(
        "run_key",
        "run",
        "batch",
        fn.col("group").alias("consumer_group"),
        "topic",
        fn.col("key").alias("message_key"),
        "tag",
        "queue",
        fn.col("offset").alias("queue_offset"),
        "owner",
        "subscription",
        fn.expr(f"CASE WHEN {problem_of_line()} IS NULL THEN message_class END").alias("message_class"),
        "deliveries",
        fn.expr(f"coalesce({problem_of_line()}, reason)").alias("reason"),
        "events",
    )
    delivery_ms = fn.greatest(fn.col("received_ms") - fn.col("sent_ms"), fn.lit(0.0))
    return (
        rows.repartition(partitions, *KEY)
        .join(seen.hint("shuffle_hash"), list(KEY), "left")
        .withColumn(
            "delivery_ms",
            fn.when(
                (fn.size("deliveries") > 0)
                & fn.col("sent_ms").isNotNull()
                & fn.col("received_ms").isNotNull(),
                delivery_ms,
            ),
        )
        .transform(shaped, MESSAGES)
    )


def problem_of_line(parent: str = "") -> str:
    """SQL: `BROKEN`, `OTHER_SCHEMA`, or null where nothing is wrong with a line.

    Args:
        parent: of the line's fields, with a dot behind; empty: they are columns.
    """
    needed = ("group", "topic", "key", "message_class", "deliveries", "events")
    missing = " OR ".join(f"{parent}`{name}` IS NULL" for name in needed)
    corrupt, version = f"{parent}{CORRUPT}", f"{parent}schema_version"
    return (
        f"CASE WHEN {corrupt} IS NULL AND {version} <> {SCHEMA_VERSION} THEN '{OTHER_SCHEMA}' "
        f"WHEN {corrupt} IS NOT NULL OR {version} IS NULL OR {missing} "
        # It would count among the messages, and in no class.
        f"OR {parent}message_class NOT IN ({_CLASSES}) THEN '{BROKEN}' END"
    )
