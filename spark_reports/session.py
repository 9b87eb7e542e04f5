"""A Spark that can read and write Delta tables, quietly."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession


@contextmanager
def spark_session(master: str | None = None) -> Iterator[SparkSession]:
    """A session, ended with the block.

    Args:
        master: of Spark; None: `ROCKETCHAOS_SPARK_MASTER`, otherwise `local[*]`.
    """
    session = (
        SparkSession.builder.master(master or os.environ.get("ROCKETCHAOS_SPARK_MASTER") or "local[*]")
        .appName("rocketchaos")
        .config("spark.jars.packages", "io.delta:delta-spark_4.1_2.13:4.1.0")
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()
