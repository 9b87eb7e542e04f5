"""Old runs leave the store, and ingests of their folders do not bring them back."""

from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from rocketchaos.spark_reports import delta_sql
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.store_state import KEPT_SINCE_PROPERTY
from rocketchaos.spark_reports.store_views import placed_in_time
from rocketchaos.spark_reports.tables import AGED, QUARANTINE, RUNS


def keep_since(store: Store, since: datetime) -> int:
    """Remove older runs, and let ingests skip their folders. Returns the number of removed runs.

    The moment is written down in the store. Each folder is put into the quarantine as `AGED`, so that it isn't
    even read again. Where a clock was wrong altogether, the time of the ingest counts. The next call completes an
    interrupted one.

    Raises:
        EnvironmentNotReady: others write to the store all the time.
    """
    if store.kept_since is not None and since < store.kept_since:
        # They may be young enough now: the next ingest reads them again.
        store.transactions.run(lambda: _forget_aged(store))
    store.transactions.run(lambda: _mark(store, since))
    store.kept_since = since
    age = f.coalesce("started", "ingested")
    old = placed_in_time(store.read(RUNS)).where(age < f.lit(since)).localCheckpoint()
    count = old.count()
    if count:
        store.quarantine(_as_aged(old))
        store.transactions.run(lambda: _remove(store, old))
    return count


def _forget_aged(store: Store) -> None:
    table = delta_sql.named(store.place.of_table(QUARANTINE.name))
    store.spark.sql(f"DELETE FROM {table} WHERE kind = '{AGED}'")


def _mark(store: Store, since: datetime) -> None:
    store.spark.sql(
        f"ALTER TABLE {delta_sql.named(store.place.of_table(RUNS.name))} "
        f"SET TBLPROPERTIES ('{KEPT_SINCE_PROPERTY}' = '{since.isoformat()}')"
    )


def _remove(store: Store, runs: DataFrame) -> None:
    """A run that was judged again in the meantime has another batch; the next tidy removes it."""
    path, gone = store.place.of_table(RUNS.name), runs.select("run", "batch")
    same = "old.run = new.run AND old.batch = new.batch"
    delta_sql.merge(store.spark, path, gone, same, "WHEN MATCHED THEN DELETE")


def _as_aged(runs: DataFrame) -> DataFrame:
    """The rows of `runs` as rows of the quarantine, by which their folders are not read again."""
    known = {
        "host": f.when(f.startswith("source", f.lit("file:")), f.col("host")),
        "kind": f.lit(AGED),
        "reason": f.lit("it is older than what the store keeps (`rocketchaos report tidy --keep`)"),
        "found": f.current_timestamp(),
    }
    columns = {field.name: f.lit(None).cast(field.dataType) for field in QUARANTINE.schema}
    columns |= {name: f.col(name) for name in QUARANTINE.columns if name in RUNS.columns} | known
    return runs.select(*(column.alias(name) for name, column in columns.items()))
