"""Delta's statements, as text: they are the same wherever Spark's driver is."""

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType


def named(path: str) -> str:
    """The Delta table at this URI, as SQL names it."""
    return f"delta.`{path}`"


def merge(spark: SparkSession, path: str, new: DataFrame, on: str, *then: str) -> None:
    """Merge rows into a table, in one commit.

    Args:
        spark: the session.
        path: URI of the table, called `old` in what follows.
        new: the rows, called `new`.
        on: which rows belong together.
        then: clauses such as `WHEN MATCHED THEN DELETE`.
    """
    # In a statement with a frame braces are its names.
    table = named(path).replace("{", "{{").replace("}", "}}")
    spark.sql(f"MERGE INTO {table} AS old USING {{new}} AS new ON {on} {' '.join(then)}", new=new)


def create(path: str, columns: StructType, properties: Mapping[str, str]) -> str:
    """The statement that makes a table, unless it is there."""
    listed = ", ".join(f"`{item.name}` {item.dataType.simpleString()}" for item in columns)
    named_properties = ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())
    options = f" TBLPROPERTIES ({named_properties})" if named_properties else ""
    return f"CREATE TABLE IF NOT EXISTS {named(path)} ({listed}) USING delta{options}"
