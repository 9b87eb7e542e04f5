"""The files of run folders as rows, each read once."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as fn
from pyspark.sql.types import StringType, StructType

from rocketchaos.harness.facts.kinds import Seal, word_of
from rocketchaos.harness.facts.line_digest import digest_text
from rocketchaos.spark_reports.contract import FACT, MESSAGE
from rocketchaos.spark_reports.places import literal

SETTINGS = {
    # Many small files to a task: by default 32 of them fill one. A folder's files are a few kilobytes each.
    "spark.sql.files.openCostInBytes": "32768",
    "spark.sql.files.maxPartitionBytes": "64m",
    # Paths are listed by this many tasks, not by one for each of them.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
}
_ON_THIS_HOST = "file:"
_SEAL = f'{{"fact":"{word_of(Seal)}"'
"""How the line of a seal begins, which is no part of the digest that it tells."""


def reader(spark: SparkSession, paths: Sequence[str]) -> DataFrameReader:
    """Reads these files of run folders, and nothing else.

    A file that vanishes, or that a disk can't read to its end, must not end the ingest: its digest is another one,
    or a second listing shows it. In a file of the store the same would be lost silently. On other file systems a
    broken connection looks like such a file, so it ends the ingest, and the next one reads the folder again.
    """
    tolerant = all(path.startswith(_ON_THIS_HOST) for path in paths)
    return spark.read.options(ignoreMissingFiles="true", ignoreCorruptFiles=str(tolerant).lower())


@contextmanager
def reading(spark: SparkSession) -> Iterator[None]:
    """Sets how Spark reads files within the block."""
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


def digests(spark: SparkSession, paths: Sequence[str]) -> Mapping[tuple[str, str], str]:
    """Source of a folder and name of a file: its digest (`harness.facts.line_digest`); empty ones left out."""
    if not paths:
        return {}
    lines = reader(spark, paths).option("lineSep", "\n").text([literal(item) for item in paths])
    summed = (
        lines.where(~fn.startswith("value", fn.lit(_SEAL)))
        .groupBy("_metadata.file_path")
        .agg(fn.count(fn.lit(1)).alias("lines"), fn.sum(fn.crc32("value")).alias("total"))
        .select(source_of("file_path").alias("source"), _name("file_path").alias("name"), "lines", "total")
    )
    return {(row.source, row.name): digest_text(row.lines, row.total) for row in summed.collect()}


def fact_lines(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Lines of these `facts.jsonl`, with `place`: what Spark calls the folder, with a `/` behind."""
    return _lines(spark, FACT, paths).withColumn("place", fn.regexp_extract("file_path", "^.*/", 0))


def message_lines(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Lines of these `messages.jsonl`, with `file_path`."""
    return _lines(spark, MESSAGE, paths)


def source_of(path: str) -> Column:
    """The source of the folder in which a file is, as listings have it, from what Spark calls the file."""
    plain = fn.url_decode(fn.replace(fn.regexp_extract(path, "^(.*)/", 1), fn.lit("+"), fn.lit("%2B")))
    return fn.regexp_replace(plain, "^file:/+", "file:/")


def _name(path: str) -> Column:
    return fn.element_at(fn.split(path, "/"), -1)


def _lines(spark: SparkSession, schema: StructType, paths: Sequence[str]) -> DataFrame:
    if not paths:
        return spark.createDataFrame([], StructType(list(schema.fields)).add("file_path", StringType()))
    lines = (
        reader(spark, paths).schema(schema).option("lineSep", "\n").json([literal(item) for item in paths])
    )
    return lines.select("*", "_metadata.file_path")
