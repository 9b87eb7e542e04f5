"""Whoever answers the SQL of reports: Spark, or DuckDB for a store on this machine."""

from typing import Protocol

from pyspark.sql import Row


class Answered(Protocol):
    """The answer to a query."""

    def collect(self) -> list[Row]:
        """Its rows."""


class Session(Protocol):
    """As `SparkSession` has it."""

    def sql(self, text: str, /) -> Answered:
        """Ask a query, or make a view."""
