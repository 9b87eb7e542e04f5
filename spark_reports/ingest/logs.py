"""Errors and telling warnings in the logs of runs that are not as they should be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as fn

from rocketchaos.harness.core.names import TOKEN
from rocketchaos.spark_reports.ingest.findings import not_as_it_should_be, side_of
from rocketchaos.spark_reports.ingest.reading import reader
from rocketchaos.spark_reports.ingest.signature import signature
from rocketchaos.spark_reports.places import literal

MOST = 20
"""So many different lines of a run are told, the first ones; each is counted."""

_LOGS = "logs/"
_ERROR = (
    r"\b(ERROR|FATAL|SEVERE)\b|^(Traceback|Exception in thread|\w+(\.\w+)+(Exception|Error)\b)|OutOfMemory"
)
_WARNING = r"\bWARN(ING)?\b"
_TELLING = (
    r"(?i)exception|time(d)? ?out|refused|reject|fail|not (exist|latest|found|online)|discard|unreachable"
    r"|no space|too many|busy|flow control|expired"
)
_ANOTHER_RUN = rf"-({TOKEN})\b"


def log_findings(spark: SparkSession, documents: DataFrame) -> DataFrame:
    """Rows of kind `log` for `spark_reports.ingest.findings`.

    Logs of a shared cluster have other runs' lines too: what names another run is left out.
    """
    wrong = documents.where(not_as_it_should_be()).select(
        "place", "run_key", "run", "batch", side_of(fn.col("verdict.trouble")).alias("side")
    )
    sources = [row.source for row in documents.where(not_as_it_should_be()).select("source").collect()]
    return found_in(log_lines(spark, [f"{source}/{_LOGS}" for source in sources]), wrong)


def found_in(lines: DataFrame, wrong: DataFrame) -> DataFrame:
    """What is telling in `lines` (`path`, `value`, `position`) of the runs in `wrong` (`place`, `run`, ...)."""
    told = fn.col("value").rlike(_ERROR) | (fn.col("value").rlike(_WARNING) & fn.col("value").rlike(_TELLING))
    parts = fn.split("path", "/logs/")
    ends = fn.sequence(fn.lit(1), fn.size("parts") - 1)
    place = fn.concat(fn.array_join(fn.slice("parts", fn.lit(1), fn.col("end")), "/logs/"), fn.lit("/"))
    others = fn.filter(
        fn.regexp_extract_all("value", fn.lit(_ANOTHER_RUN), 1), lambda one: one != fn.col("run")
    )
    own = fn.col("value").contains(fn.col("run")) | (fn.size(others) == 0)
    first = Window.partitionBy("run_key").orderBy("position")
    return (
        lines.where(told)
        .withColumn("parts", parts)
        .where("size(parts) > 1")
        .withColumn("end", fn.explode(ends))
        .withColumn("place", place)
        .join(fn.broadcast(wrong), "place")
        .where(own)
        .withColumn("node", _node())
        .withColumn("text", fn.substring(fn.trim("value"), 1, 2000))
        .withColumn("signature", signature(fn.col("text"), fn.col("run")))
        .groupBy("run_key", "run", "batch", "side", "node", "signature")
        .agg(
            fn.min_by("text", "position").alias("text"),
            fn.count(fn.lit(1)).alias("occurrences"),
            fn.min("position").alias("position"),
        )
        .withColumn("rank", fn.row_number().over(first))
        .where(fn.col("rank") <= MOST)
        .withColumn("kind", fn.lit("log"))
        .withColumn("events", fn.array().cast("array<int>"))
        .drop("signature", "rank", "position")
    )


def log_lines(spark: SparkSession, places: Sequence[str]) -> DataFrame:
    """Lines of the logs in these folders, as far as they are there."""
    there = _that_are_there(spark, places)
    if not there:
        return spark.createDataFrame([], "value string, path string, position long")
    files = reader(spark).option("recursiveFileLookup", "true").option("pathGlobFilter", "*.{log,txt}")
    try:
        lines = files.text([literal(one) for one in there])
    except AnalysisException as error:
        # One was removed just now: Spark plans to read all folders, or none. There are fewer now.
        if error.getCondition() != "PATH_NOT_FOUND" or _that_are_there(spark, there) == there:
            raise
        return log_lines(spark, there)
    return lines.select(
        "value",
        fn.col("_metadata.file_path").alias("path"),
        fn.monotonically_increasing_id().alias("position"),
    )


def _node() -> Column:
    """Whose log it is: the file's name, or the folder's below `logs`."""
    below = fn.element_at(fn.split(fn.array_join(fn.slice("parts", fn.col("end") + 1, 9), "/logs/"), "/"), 1)
    return fn.regexp_replace(below, r"\.(log|txt)$", "")


def _that_are_there(spark: SparkSession, places: Sequence[str]) -> list[str]:
    context: Any = spark.sparkContext
    jvm, configuration = context._jvm, context._jsc.hadoopConfiguration()
    paths = [jvm.org.apache.hadoop.fs.Path(place) for place in places]
    return [path.toString() for path in paths if path.getFileSystem(configuration).exists(path)]
