"""Explicit schemas, as short as the columns that they name."""

from __future__ import annotations

from pyspark.sql.types import DataType, StructField, StructType


def schema(**columns: DataType) -> StructType:
    """Columns and their types, in this order; each may be null."""
    return StructType([StructField(name, kind, True) for name, kind in columns.items()])
