"""The store: Delta tables in one folder, filled by ingests, read by reports.

An ingest appends facts first, table by table, in a batch of its own, and the rows of `runs` last, in one MERGE:
that is its commit. Facts count only where `runs` has their `run_key`, so that an ingest under way, or one that was
broken off, shows nothing. A run that is there already, judged the same, stays as it is; one that was judged
again is replaced in the same MERGE, with all its facts. `tidy` removes facts that no report can see any more.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType

from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.spark_reports import delta_sql
from rocketchaos.spark_reports.driver import driver_of
from rocketchaos.spark_reports.local_rows import local_rows
from rocketchaos.spark_reports.places import Place, no_store
from rocketchaos.spark_reports.plain_files import plain_frames
from rocketchaos.spark_reports.report import StoreSummary
from rocketchaos.spark_reports.session import Session
from rocketchaos.spark_reports.spark_schema import schema
from rocketchaos.spark_reports.spark_session import Progress
from rocketchaos.spark_reports.store_state import (
    KEPT_SINCE_PROPERTY,
    VERSION_PROPERTY,
    kept_since,
    lacks,
    require_undamaged,
    require_version,
)
from rocketchaos.spark_reports.store_summary import summary_of
from rocketchaos.spark_reports.store_views import (
    NEWEST_INGEST,
    SIDES,
    placed_in_time,
    problems,
    view,
)
from rocketchaos.spark_reports.tables import QUARANTINE, RUNS, STORE_VERSION, TABLES, Table
from rocketchaos.spark_reports.transactions import Transactions

BATCH_LIMIT_S = 12 * 3600
"""An ingest that takes longer can't commit: `tidy` removes facts that are not committed for a day."""

STATISTICS = "batch,run_key"
"""Columns of facts of which each file knows the least and the greatest value."""

# A folder is as it is, however its clock stands; and what was brought up to date is made again from any.
_REPLACES = "new.source <=> old.source OR old.digest IS NULL OR coalesce(new.judged >= old.judged, true)"
_AT_ONCE = 4
"""How many tables are written, or made, at a time: small ones cost planning and commits, hardly any cores."""
_TEXT = StringType()
_EMPTY_PLACE = "Choose an empty folder for the store."
_LOG = "_delta_log"
_ANOTHER_PLACE = "Choose a folder without one in its path."


class Store:
    """A store that exists, in this version."""

    def __init__(self, spark: SparkSession, place: Place, progress: Progress | None = None) -> None:
        """Use `open` or `create`."""
        self.spark = spark
        self.place = place
        self.transactions = Transactions(spark, place, progress or (lambda _text: None))
        self.kept_since = _kept_since(spark, place)
        """Runs older than this were removed, and ingests skip them. None: no runs were removed."""
        self._begun, self._begun_s = time.monotonic(), time.time()
        self._ingest = ""
        self.begin_ingest()
        self._versions: Mapping[str, int] = {}
        """Of the tables in the views."""

    @property
    def session(self) -> Session:
        """What answers the SQL of reports."""
        return self.spark

    @classmethod
    def open(cls, spark: SparkSession, uri: str, progress: Progress | None = None) -> Store:
        """The store that is there.

        Raises:
            UsageProblem: there is none, or one of another version, or it lacks a table.
        """
        place = Place.of(uri)
        version = version_of(spark, place)
        if version is None:
            raise no_store(uri)
        require_version(version, uri)
        _require_tables(spark, place)
        return cls(spark, place, progress)

    @classmethod
    def create(cls, spark: SparkSession, uri: str, progress: Progress | None = None) -> Store:
        """The store that is there, otherwise a new one.

        Raises:
            UsageProblem: there is one of another version, or it lacks a table, or there can be none.
            EnvironmentNotReady: it can't be made.
        """
        place = Place.of(uri)
        if "`" in place.uri:
            raise UsageProblem(f"there can be no store at {uri}: Delta takes no backtick", _ANOTHER_PLACE)
        place.make()
        store = cls(spark, place, progress)
        version = version_of(spark, place)
        if version is None:
            store.transactions.run(lambda: _make_new(spark, place))
        else:
            require_version(version, uri)
            _require_tables(spark, place)
        return store

    def begin_ingest(self) -> None:
        """The batches that follow belong together: `report diff --since LAST` takes them for one."""
        self._ingest = secrets.token_hex(8)

    def begin(self) -> str:
        """Begin a batch; its name, for the column `batch`: its time, its ingest, and a word of its own."""
        self._begun, self._begun_s = time.monotonic(), time.time()
        at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(self._begun_s))
        return f"{at}-{self._ingest}-{secrets.token_hex(8)}"

    def append(self, table: Table, facts: DataFrame) -> None:
        """Append facts of the batch; no report sees them before `commit`. Columns as in `spark_reports.tables`."""
        self.transactions.run(partial(self._write, table, lambda: facts))

    def append_all(self, facts: Sequence[tuple[Table, Callable[[], DataFrame]]]) -> None:
        """Append what these make to several tables, some at a time, planned in parallel."""
        self.transactions.run_together([partial(self._write, *fact) for fact in facts], _AT_ONCE)

    def _write(self, table: Table, facts: Callable[[], DataFrame]) -> None:
        rows = facts().select(*table.columns)
        rows.write.format("delta").mode("append").save(self.place.of_table(table.name))

    def commit(self, runs: DataFrame) -> None:
        """Make the runs of the batch visible, all at once.

        Those that the store has already, judged the same, are left out: their facts in this batch stay unseen.

        Raises:
            EnvironmentNotReady: the batch has taken so long that its facts may have been removed as left over.
        """

        def merge() -> None:
            # Here, because it may have waited for others.
            self._require_in_time()
            self._merge(
                RUNS,
                runs.select(*RUNS.columns),
                "old.run = new.run",
                # Of two ingests of copies at once the one with the older judgement may come last.
                f"WHEN MATCHED AND NOT (old.digest <=> new.digest) AND ({_REPLACES}) THEN UPDATE SET *",
                # The folder has been touched, or moved: the same facts, found in another place.
                f"WHEN MATCHED AND NOT (old.listing <=> new.listing) AND ({_REPLACES}) THEN UPDATE SET"
                " listing = new.listing, judged = new.judged, source = new.source, ingested = new.ingested",
                "WHEN NOT MATCHED THEN INSERT *",
            )

        self.transactions.run(merge)

    def _require_in_time(self) -> None:
        # While a machine sleeps its monotonic clock stands still, and its wall clock may be set.
        took_s = max(time.monotonic() - self._begun, time.time() - self._begun_s)
        if took_s > BATCH_LIMIT_S:
            raise EnvironmentNotReady(
                f"the ingest has taken longer than {BATCH_LIMIT_S // 3600} hours, and its facts may be gone",
                "Ingest fewer runs at a time.",
            )

    def quarantine(self, folders: DataFrame) -> None:
        """Note folders that could not be ingested: one row a source; columns as in `spark_reports.tables`."""

        def merge() -> None:
            self._merge(
                QUARANTINE,
                folders.select(*QUARANTINE.columns).dropDuplicates(["source"]),
                "old.source = new.source",
                "WHEN MATCHED THEN UPDATE SET *",
                "WHEN NOT MATCHED THEN INSERT *",
            )

        self.transactions.run(merge)

    def move(self, sources: Mapping[str, str]) -> None:
        """Note where run folders are now: by listing, the new source."""
        if not sources:
            return
        moved = local_rows(self.spark, list(sources.items()), schema(listing=_TEXT, source=_TEXT))
        then = "WHEN MATCHED THEN UPDATE SET source = new.source"
        self.transactions.run(partial(self._merge, RUNS, moved, "old.listing = new.listing", then))

    def release(self, folders: Mapping[str, str | None]) -> None:
        """Let folders out of the quarantine: by source, the batch that is known to have put it there.

        Entries that another batch has made meanwhile stay.
        """
        if not folders:
            return
        released = local_rows(self.spark, list(folders.items()), schema(source=_TEXT, batch=_TEXT))
        same = "old.source = new.source AND old.batch <=> new.batch"
        self.transactions.run(partial(self._merge, QUARANTINE, released, same, "WHEN MATCHED THEN DELETE"))

    def read(self, table: Table) -> DataFrame:
        """A table as it is now, with rows that don't count yet: rows of `runs` decide."""
        return self.spark.read.format("delta").load(self.place.of_table(table.name))

    def register(self) -> None:
        """Make views with the tables' names: one moment of the store, whatever is written meanwhile."""
        versions = self._one_moment()
        frames = dict(plain_frames(self.spark, self.place, versions) or self._frames(versions))
        frames[QUARANTINE.name] = problems(frames[RUNS.name], frames[QUARANTINE.name])
        frames[RUNS.name] = placed_in_time(frames[RUNS.name])
        for name, frame in frames.items():
            frame.createOrReplaceTempView(name)
        self.spark.sql(view(SIDES, NEWEST_INGEST).rstrip(";"))
        self._versions = versions

    def _frames(self, versions: Mapping[str, int]) -> Mapping[str, DataFrame]:
        return {
            name: self.spark.read.format("delta")
            .option("versionAsOf", version)
            .load(self.place.of_table(name))
            for name, version in versions.items()
        }

    def summary(self) -> StoreSummary:
        """What is in the views of `register`."""
        return summary_of(self.spark, self.place, self._versions, self.kept_since)

    def _merge(self, table: Table, new: DataFrame, on: str, *then: str) -> None:
        delta_sql.merge(self.spark, self.place.of_table(table.name), new, on, *then)

    def _one_moment(self) -> dict[str, int]:
        """Versions of all tables that belong together: `runs` didn't change while the others were looked at."""
        while True:
            versions = {name: delta_version(self.spark, self.place.of_table(name)) for name in TABLES}
            if delta_version(self.spark, self.place.of_table(RUNS.name)) == versions[RUNS.name]:
                return versions


def _kept_since(spark: SparkSession, place: Place) -> datetime | None:
    return kept_since(
        _property(spark, place, KEPT_SINCE_PROPERTY) if is_table(spark, place, RUNS.name) else None
    )


def _property(spark: SparkSession, place: Place, name: str) -> str | None:
    """One of the table `runs`."""
    return driver_of(spark).table_property(place.of_table(RUNS.name), name)


def version_of(spark: SparkSession, place: Place) -> int | None:
    """The version of the store at this place; 0 where it has none written down, None where there is no store."""
    if not is_table(spark, place, RUNS.name):
        return None
    return int(_property(spark, place, VERSION_PROPERTY) or 0)


def delta_version(spark: SparkSession, path: str) -> int:
    """The newest version of a Delta table."""
    return driver_of(spark).version(path)


def make_tables(spark: SparkSession, place: Place) -> None:
    """Make the tables that are missing; `runs` last, so that a store that has it has all."""
    others = [table for table in TABLES.values() if table is not RUNS]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda table: make_table(spark, place, table), others))
    make_table(spark, place, RUNS)


def make_table(spark: SparkSession, place: Place, table: Table) -> None:
    """Make a table, if there is none.

    Facts are not partitioned: `tidy` can put the small files of many ingests together. Where one batch is asked
    for, what each file says of its first and last spares the others: names of batches begin with their time.

    Raises:
        UsageProblem: its folder has other files in it.
    """
    properties = {}
    if table is RUNS:
        properties = {VERSION_PROPERTY: str(STORE_VERSION)}
    elif table is not QUARANTINE:
        # Statistics of other columns would cost time at every write, and serve no query.
        properties = {"delta.dataSkippingStatsColumns": STATISTICS}
    path = place.of_table(table.name)
    # Looked at first: where another process fills the table meanwhile, it is one.
    others = [name for name in driver_of(spark).names(path) if name != _LOG]
    if others and not is_table(spark, place, table.name):
        raise UsageProblem(f"there is something in {path} already, which is no table", _EMPTY_PLACE)
    spark.sql(delta_sql.create(path, table.schema, properties))


def _make_new(spark: SparkSession, place: Place) -> None:
    """A store, unless another process has made it by now; where there are facts, its table `runs` was lost."""
    if version_of(spark, place) is None:
        there = [table for table in TABLES if is_table(spark, place, table)]
        filled = any(delta_version(spark, place.of_table(table)) > 0 for table in there)
        # Where there is no lock, another process may have made and filled it in the meantime.
        if filled and version_of(spark, place) is None:
            raise lacks(place, [RUNS.name])
        make_tables(spark, place)


def _require_tables(spark: SparkSession, place: Place) -> None:
    missing = [name for name in TABLES if not is_table(spark, place, name)]
    if missing:
        raise lacks(place, missing)
    if place.folder is not None:
        for name in TABLES:
            require_undamaged(place, place.folder / name)


def is_table(spark: SparkSession, place: Place, name: str) -> bool:
    """Whether a table of the store is there."""
    return driver_of(spark).is_table(place.of_table(name))
