"""Plain files of a store's tables, for tools that know nothing of Delta."""

from collections.abc import Sequence
from enum import StrEnum

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import ArrayType, MapType

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.spark_reports.driver import driver_of
from rocketchaos.spark_reports.places import Place
from rocketchaos.spark_reports.spark_session import Progress
from rocketchaos.spark_reports.tables import FACTS, QUARANTINE, RUNS


class Format(StrEnum):
    """The format of the files."""

    PARQUET = "parquet"
    CSV = "csv"


def export(spark: SparkSession, out: str, form: Format, progress: Progress) -> Sequence[str]:
    """Write each table into a folder of its own; their names.

    Of the facts only those that count, those whose run is in `runs`. In CSV lists and maps are JSON.

    Args:
        spark: with views of the tables, see `Store.register`.
        out: a folder that doesn't exist, or is empty; a path or URI.
        form: of the files.
        progress: called with the name of each table.

    Raises:
        UsageProblem: there is something in the folder.
    """
    place = Place.of(out)
    _require_empty(spark, place)
    place.make()
    runs = spark.table(RUNS.name)
    for table in (RUNS, *FACTS, QUARANTINE):
        progress(f"writing {table.name}")
        rows = spark.table(table.name)
        if table in FACTS:
            rows = rows.join(f.broadcast(runs.select("run_key")), "run_key", "left_semi").select(
                *table.columns
            )
        if form is Format.CSV:
            rows = _flat(rows)
        writer = rows.write.mode("error").option("header", True).option("escape", '"')
        writer.format(form).save(place.of_table(table.name))
    return [table.name for table in (RUNS, *FACTS, QUARANTINE)]


def _require_empty(spark: SparkSession, place: Place) -> None:
    if driver_of(spark).names(place.uri):
        raise UsageProblem(f"there is something in {place.uri} already", "Give a new folder to --out.")


def _flat(rows: DataFrame) -> DataFrame:
    return rows.select(
        *(
            f.to_json(field.name).alias(field.name)
            if isinstance(field.dataType, (ArrayType, MapType))
            else f.col(field.name)
            for field in rows.schema
        )
    )
