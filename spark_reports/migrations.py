"""Brings a store of an older version up to date, one version after the other.

Each migration can be done again from its start, so that one that was broken off does no harm: the version is
written down last.
"""

from collections.abc import Callable, Mapping
from functools import partial

from pyspark.sql import SparkSession

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.spark_reports import delta_sql
from rocketchaos.spark_reports.places import Place
from rocketchaos.spark_reports.spark_session import Progress
from rocketchaos.spark_reports.store import STATISTICS, is_table, make_tables, version_of
from rocketchaos.spark_reports.store_state import VERSION_PROPERTY
from rocketchaos.spark_reports.tables import CHECKS, FACTS, QUARANTINE, RUNS, STORE_VERSION, TABLES, Table
from rocketchaos.spark_reports.transactions import Transactions

Migration = Callable[[SparkSession, Place], None]


def _add_what_is_missing(spark: SparkSession, place: Place) -> None:
    """Version 0 had its version nowhere, and may lack tables and columns that came until version 1.

    Added columns are null: unknown. So digests and listings are forgotten, and the next ingest of the same folders
    replaces their runs by whole ones.
    """
    for table in TABLES.values():
        if is_table(spark, place, table.name):
            _add_columns(spark, place, table)
    make_tables(spark, place)
    spark.sql(f"UPDATE {delta_sql.named(place.of_table(RUNS.name))} SET digest = NULL, listing = NULL")


def _let_tables_be_tidied(spark: SparkSession, place: Place) -> None:
    """Version 1 had facts partitioned by batch, so that their small files stayed; and no `host` in quarantine."""
    _add_columns(spark, place, QUARANTINE)
    for table in FACTS:
        path = place.of_table(table.name)
        detail = spark.sql(f"DESCRIBE DETAIL {delta_sql.named(path)}").select("partitionColumns").first()
        if detail is not None and detail.partitionColumns:
            rows = spark.read.format("delta").load(path)
            rows.write.format("delta").mode("overwrite").option("overwriteSchema", True).save(path)
            statistics = f"'delta.dataSkippingStatsColumns' = '{STATISTICS}'"
            spark.sql(f"ALTER TABLE {delta_sql.named(path)} SET TBLPROPERTIES ({statistics})")


def _let_checks_have_ids(spark: SparkSession, place: Place) -> None:
    """Version 2 knew checks by their names. Their ids come from folders that are judged again."""
    _add_columns(spark, place, CHECKS)


def _let_runs_have_owners(spark: SparkSession, place: Place) -> None:
    """Version 3 had no owners of scenarios; nor have its run folders."""
    _add_columns(spark, place, RUNS)


def _add_columns(spark: SparkSession, place: Place, table: Table) -> None:
    path = place.of_table(table.name)
    there = {field.name: field.dataType for field in spark.read.format("delta").load(path).schema}
    for field in table.schema:
        if there.get(field.name, field.dataType).simpleString() != field.dataType.simpleString():
            raise UsageProblem(
                f"{place.uri} can't be brought up to date: {field.name} of {table.name} is a "
                f"{there[field.name].simpleString()}, not a {field.dataType.simpleString()}",
                "Make a new store of the run folders.",
            )
    missing = [
        f"`{field.name}` {field.dataType.simpleString()}" for field in table.schema if field.name not in there
    ]
    if missing:
        spark.sql(f"ALTER TABLE {delta_sql.named(path)} ADD COLUMNS ({', '.join(missing)})")


MIGRATIONS: Mapping[int, Migration] = {
    0: _add_what_is_missing,
    1: _let_tables_be_tidied,
    2: _let_checks_have_ids,
    3: _let_runs_have_owners,
}
"""From which version; each leads to the next. A new one is registered here."""


_WHOLE_FROM = 1
"""Of older versions runs lack what only their folders tell; an ingest of those makes them whole."""


def leaves_gaps(found: int) -> bool:
    """Whether a store that had this version is to be given its run folders again."""
    return found < _WHOLE_FROM


def migrate(spark: SparkSession, uri: str, progress: Progress) -> int:
    """Bring a store up to date; the version that it had.

    Raises:
        UsageProblem: there is no store, or it has a version that is newer, or its columns are others.
        EnvironmentNotReady: others write to it all the time.
    """
    place = Place.of(uri)
    found = version_of(spark, place)
    if found is None:
        raise UsageProblem(f"there is no store at {uri}", "Check the place.")
    if found > STORE_VERSION:
        raise UsageProblem(
            f"the store at {uri} has version {found}, and this rocketchaos knows {STORE_VERSION}",
            "Use a newer rocketchaos.",
        )
    transactions = Transactions(spark, place, progress)
    for version in range(found, STORE_VERSION):
        progress(f"bringing the store from version {version} to {version + 1}")
        transactions.run(partial(MIGRATIONS[version], spark, place))
        transactions.run(partial(_mark, spark, place, version + 1))
    return found


def _mark(spark: SparkSession, place: Place, version: int) -> None:
    spark.sql(
        f"ALTER TABLE {delta_sql.named(place.of_table(RUNS.name))} "
        f"SET TBLPROPERTIES ('{VERSION_PROPERTY}' = '{version}')"
    )
