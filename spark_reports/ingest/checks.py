"""The table `checks`: what was expected, and what was seen."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from rocketchaos.spark_reports.ingest.shape import shaped
from rocketchaos.spark_reports.tables import CHECKS


def checks(documents: DataFrame) -> DataFrame:
    """The rows of the table, from the folders' documents."""
    return (
        documents.select("run_key", "run", "batch", fn.posexplode("checks.checks").alias("position", "one"))
        .select("run_key", "run", "batch", "position", "one.*")
        .transform(shaped, CHECKS)
    )
