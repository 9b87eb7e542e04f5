"""The files of run folders as rows, each read once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as fn
from pyspark.sql.types import StringType, StructField, StructType

from rocketchaos.spark_reports.contract import CHECKS, CORRUPT, EVENT, MESSAGE, OUTCOME, RUN
from rocketchaos.spark_reports.ingest.listing import Folder
from rocketchaos.spark_reports.places import literal

SETTINGS = {
    # Many small files to a task: by default 32 of them fill one. A folder's files are a few kilobytes each.
    "spark.sql.files.openCostInBytes": "32768",
    "spark.sql.files.maxPartitionBytes": "64m",
    # Paths are listed by so many tasks, not by one for each of them.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
    # Names that a folder gives may become the same name; by default that would end the ingest of all folders.
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
}
_TOLERANT = {"ignoreMissingFiles": "true", "ignoreCorruptFiles": "true"}


def reader(spark: SparkSession) -> DataFrameReader:
    """Reads files of run folders, and of nothing else; their paths are `literal`.

    One that vanishes, or that can't be read to its end, must not end the ingest: what it lacks shows in the sums
    of `spark_reports.ingest.soundness`, or in a second listing, and its folder is quarantined. Of a file of the
    store the same would be lost without a word.
    """
    return spark.read.options(**_TOLERANT)


@contextmanager
def reading(spark: SparkSession) -> Iterator[None]:
    """How files are read, within the block."""
    before = {name: spark.conf.get(name, None) for name in SETTINGS}
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


def documents(spark: SparkSession, folders: Sequence[Folder]) -> DataFrame:
    """`run.json`, `outcome.json` and `checks.json` of each folder, parsed: one row a folder.

    Columns: `place` (as Spark calls the folder, with a `/` behind), `source`, and of each of the three what
    `run.json` gives: `run_text` and `run`.
    """
    texts = _small_files(spark, _paths(folders, "run.json", "outcome.json", "checks.json"))
    whole = (
        texts.withColumn("place", _place("file"))
        .groupBy("place")
        .agg(*(_text_of(name).alias(f"{name}_text") for name in ("run", "outcome", "checks")))
    )
    for name, schema in (("run", RUN), ("outcome", OUTCOME), ("checks", CHECKS)):
        whole = whole.withColumn(name, parsed(fn.col(f"{name}_text"), schema))
    return whole.withColumn("source", source_of(fn.col("place")))


def message_lines(spark: SparkSession, folders: Sequence[Folder]) -> DataFrame:
    """Lines of `messages.jsonl`, with `file_path` and `corrupt`."""
    return _lines(spark, MESSAGE, folders, "messages.jsonl")


def event_lines(spark: SparkSession, folders: Sequence[Folder]) -> DataFrame:
    """Lines of `events.jsonl`, with `file_path` and `corrupt`."""
    return _lines(spark, EVENT, folders, "events.jsonl")


def numbered_lines(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Lines of files with `place`, `file` (its name) and `line`, from 1."""
    lines = reader(spark).option("lineSep", "\n").text([literal(one) for one in paths])
    return lines.select(
        "value",
        _place("_metadata.file_path").alias("place"),
        fn.element_at(fn.split("_metadata.file_path", "/"), -1).alias("file"),
        fn.col("_metadata.file_block_start").alias("block"),
        fn.monotonically_increasing_id().alias("position"),
    )


def source_of(place: Column) -> Column:
    """The source of a folder, as listings have it, from what Spark calls it."""
    plain = fn.url_decode(fn.replace(place, fn.lit("+"), fn.lit("%2B")))
    return fn.regexp_replace(fn.rtrim(plain, fn.lit("/")), "^file:/+", "file:/")


def _paths(folders: Sequence[Folder], *names: str) -> list[str]:
    return [literal(f"{one.source}/{name}") for one in folders for name in names if name in one.files]


def _place(path: str) -> Column:
    return fn.regexp_extract(path, "^.*/", 0)


def _small_files(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    if not paths:
        return spark.createDataFrame([], "value string, file string")
    texts = reader(spark).text(list(paths), wholetext=True)
    return texts.select("value", fn.col("_metadata.file_path").alias("file"))


def _text_of(name: str) -> Column:
    return fn.max(fn.when(fn.endswith("file", fn.lit(f"/{name}.json")), fn.col("value")))


def parsed(text: Column, schema: StructType) -> Column:
    """JSON text as a struct of these fields and `corrupt`."""
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}
    return fn.from_json(text, _with_corrupt(schema), options)


def _lines(spark: SparkSession, schema: StructType, folders: Sequence[Folder], name: str) -> DataFrame:
    whole, paths = _with_corrupt(schema), _paths(folders, name)
    if not paths:
        return spark.createDataFrame([], whole.add("file_path", StringType()))
    lines = (
        reader(spark)
        .schema(whole)
        .option("mode", "PERMISSIVE")
        .option("columnNameOfCorruptRecord", CORRUPT)
        .option("lineSep", "\n")
        .json(paths)
    )
    # As it is, for there are very many lines: their folder's part of it would have to be made for each of them.
    return lines.select("*", "_metadata.file_path")


def _with_corrupt(schema: StructType) -> StructType:
    return StructType([*schema.fields, StructField(CORRUPT, StringType())])
