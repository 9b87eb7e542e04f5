"""Rows of the store's tables, from lines of facts and messages."""

from collections.abc import Collection, Mapping, Sequence

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as fn
from pyspark.sql.types import LongType, StringType

from rocketchaos.harness.facts.folder_facts import MESSAGES as MESSAGES_FILE
from rocketchaos.harness.facts.kinds import RunFact, Seal, word_of
from rocketchaos.spark_reports.ingest.reading import source_of
from rocketchaos.spark_reports.local_rows import local_rows
from rocketchaos.spark_reports.spark_schema import schema
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.tables import MESSAGES, RUNS, STORED_AS, Table

_TEXT = StringType()
_OF_KEYS = schema(
    place=_TEXT, run=_TEXT, batch=_TEXT, source=_TEXT, listing=_TEXT, digest=_TEXT, judged_ms=LongType()
)


def seals(lines: DataFrame) -> list[Row]:
    """One row a folder: `place`, `source`, of its run a few columns, of its seal all there is."""
    columns = ("run", "scenario", "started_wall_ms", "message_count", "facts_version", "files")
    few = lines.where(fn.col("fact").isin(word_of(RunFact), word_of(Seal)))
    one_each = few.groupBy("place").agg(*(fn.first(name, ignorenulls=True).alias(name) for name in columns))
    return one_each.withColumn("source", source_of("place")).collect()


def kinds(lines: DataFrame) -> frozenset[str]:
    """The words of all kinds of facts in these lines."""
    return frozenset(row.fact for row in lines.select("fact").distinct().collect())


def stored(store: Store, runs: Collection[str]) -> dict[str, Row]:
    """The columns `source`, `digest` and `judged_ms` of these runs in the store."""
    if not runs:
        return {}
    asked = local_rows(store.spark, [(run,) for run in runs], schema(run=_TEXT))
    judged_ms = fn.unix_millis("judged").alias("judged_ms")
    known = store.read(RUNS).join(fn.broadcast(asked), "run").select("run", "source", "digest", judged_ms)
    return {row.run: row for row in known.collect()}


def keys(spark: SparkSession, folders: Sequence[tuple[str | int | None, ...]]) -> DataFrame:
    """The columns of every row of a folder's facts, from the values of `_OF_KEYS`."""
    rows = local_rows(spark, folders, _OF_KEYS)
    return fn.broadcast(rows.withColumn("run_key", fn.xxhash64("run", "batch")).localCheckpoint())


def messages(lines: DataFrame, keys: DataFrame) -> DataFrame:
    """The table `messages`."""
    path = fn.concat("place", fn.lit(MESSAGES_FILE)).alias("file_path")
    # By the path as it is: of very many lines the folder's part of it would have to be made for each.
    named = lines.withColumnsRenamed(STORED_AS).join(
        fn.broadcast(keys.select(path, "run_key", "run", "batch")), "file_path"
    )
    return _shaped(named, MESSAGES)


def of_table(lines: DataFrame, keys: DataFrame, table: Table) -> DataFrame:
    """A table that has what the facts of a kind have."""
    assert table.kind is not None
    own = lines.where(fn.col("fact") == word_of(table.kind)).drop("run")
    return _shaped(own.join(keys, "place"), table)


def runs(lines: DataFrame, keys: DataFrame) -> DataFrame:
    """The table `runs`."""
    times = {
        "started": fn.timestamp_millis("started_wall_ms"),
        "ended": fn.timestamp_millis("ended_wall_ms"),
        "judged": fn.timestamp_millis("judged_ms"),
        "ingested": fn.current_timestamp(),
    }
    own = lines.where(fn.col("fact") == word_of(RunFact)).drop("run").join(keys, "place")
    return _shaped(own.withColumns(times), RUNS)


def _shaped(rows: DataFrame, table: Table) -> DataFrame:
    """The columns of the table, in their order."""
    columns: Mapping[str, Column] = {
        # Spark takes no array that may have nulls for one that has none, whatever is in it.
        field.name: fn.array_compact(field.name)
        if field.dataType.typeName() == "array"
        else fn.col(field.name)
        for field in table.schema
    }
    return rows.select(*(column.alias(name) for name, column in columns.items()))
