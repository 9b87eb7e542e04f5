"""Rows in the form of a table of the store."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn
from pyspark.sql.types import ArrayType, StructField

from rocketchaos.spark_reports.tables import Table


def shaped(rows: DataFrame, table: Table) -> DataFrame:
    """The columns of the table, in their order and of their types."""
    return rows.select(*map(_column, table.schema))


def _column(field: StructField) -> Column:
    # Spark takes no array that may have nulls for one that has none, whatever is in it.
    column = fn.array_compact(field.name) if isinstance(field.dataType, ArrayType) else fn.col(field.name)
    return column.cast(field.dataType).alias(field.name)
