"""Removes from a store the facts that no report can see, and merges small files."""

import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial, reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from rocketchaos.spark_reports import delta_sql
from rocketchaos.spark_reports.retention import keep_since
from rocketchaos.spark_reports.spark_session import Progress
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.tables import FACTS, QUARANTINE, RUNS, TABLES, Table

LEFT_AFTER = timedelta(days=1)
"""Files not committed for this long are left over: an ingest may take half of it (`store.BATCH_LIMIT_S`), the
other half is for clocks that differ."""
VACUUM_AFTER = timedelta(days=7)
"""So old are files that VACUUM removes, where no version needs them: Delta's default."""


@dataclass(frozen=True, slots=True)
class Tidied:
    """The result of `tidy`."""

    runs: int
    """How many are gone, older than what is to be kept."""
    facts: int
    """How many rows are gone, of batches that were broken off or of runs that were judged again."""
    folders: int
    """How many are no longer in quarantine, as they were ingested since."""
    files: int
    """How many files became fewer."""
    files_now: int


def tidy(
    store: Store, progress: Progress, now: datetime | None = None, keep: timedelta | None = None
) -> Tidied:
    """Remove old runs, sweep, compact, and let Delta remove files that no version of the last week needs.

    Batches of the last day are left alone: they may be under way. Facts of runs that were removed go as soon as
    their batch is older.

    Args:
        store: that is there.
        progress: called with a few words for each part of the work.
        now: of all ages; default the clock's.
        keep: older runs are removed, and ingests skip their folders; None: none are.

    Raises:
        EnvironmentNotReady: others write to the store all the time.
    """
    now = now or datetime.now(UTC)
    runs = 0
    if keep is not None:
        progress("removing old runs")
        runs = keep_since(store, now - keep)
    before = (now - LEFT_AFTER).strftime("%Y%m%dT%H%M%SZ")
    progress("removing facts that no report can see")
    facts = _sweep(store, before)
    folders = _release(store)
    removed = added = 0
    for table in TABLES.values():
        progress(f"putting small files of {table.name} together")
        gone, new = store.transactions.run(partial(_compact, store, table))
        removed, added = removed + gone, added + new
    return Tidied(runs, facts, folders, removed, added)


def _sweep(store: Store, before: str) -> int:
    """Delete the facts of old batches whose run is not in `runs`; how many.

    All tables are asked at once. No batch of that age can be committed any more, so its facts stay unseen.
    """
    # Names of batches begin with their time.
    tables = [
        store.read(table)
        .where(f.col("batch") < before)
        .select(f.lit(table.name).alias("of"), "batch", "run_key")
        for table in FACTS
    ]
    unseen = reduce(DataFrame.unionAll, tables).join(
        store.read(RUNS).select("run_key"), "run_key", "left_anti"
    )
    counted = unseen.groupBy("of", "batch", "run_key").agg(f.count("*").alias("rows")).localCheckpoint()
    rows = {
        row.of: int(row.total) for row in counted.groupBy("of").agg(f.sum("rows").alias("total")).collect()
    }
    for name in rows:
        store.transactions.run(partial(_delete, store, name, counted.where(f.col("of") == name)))
    return sum(rows.values())


def _delete(store: Store, name: str, counted: DataFrame) -> None:
    """Delete the facts of these batches and runs from a table."""
    same = "old.batch = new.batch AND old.run_key = new.run_key"
    delta_sql.merge(store.spark, store.place.of_table(name), counted, same, "WHEN MATCHED THEN DELETE")


def _release(store: Store) -> int:
    """Delete from quarantine what was ingested since; how many."""
    seen = store.read(RUNS).groupBy("source").agg(f.max("ingested").alias("ingested"))
    broken = store.read(QUARANTINE)
    released = broken.join(seen, "source").where("ingested >= found").select("source", "batch").collect()
    store.release({row.source: row.batch for row in released})
    return len(released)


def _compact(store: Store, table: Table) -> tuple[int, int]:
    """How many files were put together, and how many they are now."""
    named = delta_sql.named(store.place.of_table(table.name))
    # A single file stays as it is, but for that OPTIMIZE asks Spark several jobs.
    done = (
        store.spark.sql(f"OPTIMIZE {named}").select("metrics").first()
        if len(store.read(table).inputFiles()) > 1
        else None
    )
    if _may_be_vacuumed(store, table):
        store.spark.sql(f"VACUUM {named}")
    return (int(done.metrics.numFilesRemoved), int(done.metrics.numFilesAdded)) if done else (0, 0)


def _may_be_vacuumed(store: Store, table: Table) -> bool:
    """Whether VACUUM may find a file to remove. It asks Spark some 20 jobs; a local folder is read in no time."""
    if store.place.folder is None:
        return True
    before_s = time.time() - VACUUM_AFTER.total_seconds()
    for file in (store.place.folder / table.name).rglob("*"):
        # Another process may remove it meanwhile.
        with suppress(FileNotFoundError):
            if "_delta_log" not in file.parts and file.stat().st_mtime < before_s:
                return True
    return False
