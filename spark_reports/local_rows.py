"""Rows of this process as a frame of Spark."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType
from pyspark.sql.utils import is_remote


def local_rows(spark: SparkSession, rows: Sequence[Sequence[Any]], schema: StructType) -> DataFrame:
    """A frame of these rows. With PyArrow they are in Spark's plan; without it Spark asks processes of Python."""
    if is_remote() or not importlib.util.find_spec("pyarrow"):
        return spark.createDataFrame([tuple(row) for row in rows], schema)
    import pyarrow
    from pyspark.sql.pandas.types import to_arrow_schema

    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    names = schema.fieldNames()
    table = pyarrow.table(dict(zip(names, columns, strict=True)), to_arrow_schema(schema))
    return spark.createDataFrame(table, schema)
