"""The store: what counts, one moment of it, what is tidied and exported, and places that can be none."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from delta.exceptions import ConcurrentAppendException
from pyspark.sql import SparkSession

from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.spark_reports import store as module
from rocketchaos.spark_reports import transactions
from rocketchaos.spark_reports.export import Format, export
from rocketchaos.spark_reports.failures import spark_failures
from rocketchaos.spark_reports.queries import query
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.tables import MESSAGES, QUARANTINE, RUNS, TABLES
from rocketchaos.spark_reports.tidy import Tidied, tidy
from tests.spark import stores

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def store(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """One for all tests of this file: each has runs of its own."""
    return stores.made(spark, tmp_path_factory.mktemp("store") / "a b%20c")


def test_facts_are_seen_when_their_runs_are_committed_and_not_before(store: Store) -> None:
    batch = store.begin()
    stores.append(store, batch, "late")
    assert "late" not in stores.visible(store)
    stores.commit(store, batch, "late")
    assert stores.visible(store)["late"] == 3


def test_the_same_run_again_changes_nothing_and_one_judged_anew_replaces_it_with_its_facts(
    store: Store,
) -> None:
    first = stores.ingest(store, "same", messages=2)
    stores.ingest(store, "same", messages=2)
    kept = store.read(RUNS).where("run = 'same'").collect()
    assert [row.batch for row in kept] == [first]
    assert stores.visible(store)["same"] == 2
    stores.ingest(store, "same", messages=5, digest="other")
    assert stores.visible(store)["same"] == 5


def test_a_run_whose_folder_was_only_touched_keeps_its_facts(store: Store) -> None:
    first = stores.ingest(store, "touched")
    stores.commit(store, store.begin(), "touched", listing="new", judged=stores.NOW)
    kept = store.read(RUNS).where("run = 'touched'").collect()
    assert [(row.batch, row.listing) for row in kept] == [(first, "new")]
    # Of an older copy it is known that this one was judged later.
    older = {"judged": stores.NOW - timedelta(hours=1), "source": "file:/copies/touched"}
    stores.commit(store, store.begin(), "touched", digest="other", listing="older", **older)
    assert [row.batch for row in store.read(RUNS).where("run = 'touched'").collect()] == [first]


@pytest.mark.nightly
def test_a_folder_judged_anew_replaces_its_run_though_the_clock_was_set_back(store: Store) -> None:
    """Or a backup was put back. Of copies the one that was judged last counts."""

    def judged(digest: str, at: datetime, **more: object) -> list[str]:
        stores.commit(store, store.begin(), "set-back", digest=digest, judged=at, **more)
        return [row.digest for row in store.read(RUNS).where("run = 'set-back'").collect()]

    yesterday = stores.NOW - timedelta(days=1)
    assert judged("d", stores.NOW) == ["d"]
    assert judged("older copy", yesterday, source="file:/copies/set-back") == ["d"]
    assert judged("anew", yesterday) == ["anew"]


def test_views_are_one_moment_of_the_store(store: Store) -> None:
    stores.ingest(store, "before")
    store.register()
    stores.ingest(store, "after")
    seen = {row.run for row in store.spark.table("runs").collect()}
    assert "before" in seen
    assert "after" not in seen


@pytest.mark.nightly
def test_the_statements_that_a_report_shows_make_its_views_again(spark: SparkSession, tmp_path: Path) -> None:
    store = stores.made(spark, tmp_path / "it's a store")
    cell = {
        "scenario": "s",
        "client": "java",
        "rocketmq": "5.5.0",
        "cluster": "embedded",
        "timing": "faithful",
    }
    hour = timedelta(hours=1)
    began = (stores.NOW, stores.NOW - hour, datetime(1999, 1, 1, tzinfo=UTC))
    each = {f"run-{number}": {"started": started} for number, started in enumerate(began)}
    batch = store.begin()
    stores.append(store, batch, *each)
    stores.commit(store, batch, *each, each=each, **cell, outcome="reproduced")
    bad = [("copy", "a"), ("truncated", "b"), ("truncated", "run-0"), ("other-schema", None)]
    folders = [
        {"source": f"file:/bad/{kind}/{run}", "kind": kind, "run": run, "found": stores.NOW - hour}
        for kind, run in bad
    ]
    store.quarantine(stores.frame(spark, QUARANTINE, *folders))
    store.register()
    summary = store.summary()
    assert {version > 0 for version in summary.versions.values()} == {True, False}
    assert (summary.runs, summary.quarantined, summary.clock_jumps) == (3, 2, 1)

    def read() -> list[list[str]]:
        texts = [query("flakiness_cells"), query("flakiness_history")]
        texts += [f"SELECT {', '.join(table.columns)} FROM {name}" for name, table in TABLES.items()]
        return [sorted(map(repr, spark.sql(text).collect())) for text in texts]

    before = read()
    stores.ingest(store, "later")
    for name in TABLES:
        spark.catalog.dropTempView(name)
    for statement in summary.views:
        spark.sql(statement)
    assert read() == before


def test_a_run_whose_clock_was_wrong_altogether_has_no_place_in_time(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = stores.made(spark, tmp_path)
    moments = {
        "right": stores.NOW - timedelta(days=1),
        "a-day-ahead": stores.NOW + timedelta(hours=23),
        "no-battery": datetime(1970, 1, 1, 0, 5, tzinfo=UTC),
        "next-year": stores.NOW + timedelta(days=365),
    }
    each = {run: {"started": moment, "ended": moment} for run, moment in moments.items()}
    stores.commit(store, store.begin(), *each, each=each, clock_jump_ms=0)
    store.register()
    seen = {row.run: (row.started, row.ended) for row in spark.table("runs").collect()}
    assert {run for run, times in seen.items() if None not in times} == {"right", "a-day-ahead"}
    assert seen["no-battery"] == seen["next-year"] == (None, None)
    summary = store.summary()
    assert (summary.runs, summary.clock_jumps) == (4, 2)
    assert (summary.first, summary.last) == (moments["right"], moments["a-day-ahead"])


def test_what_was_quarantined_is_counted_until_it_is_ingested(store: Store) -> None:
    def quarantine(kind: str) -> None:
        row = {
            "source": "file:/runs/q",
            "kind": kind,
            "reason": f"it is {kind}",
            "found": stores.NOW - timedelta(hours=1),
        }
        store.quarantine(stores.frame(store.spark, QUARANTINE, row))

    quarantine("still-running")
    quarantine("truncated")
    store.register()
    assert store.summary().quarantine_reasons == {"truncated": 1}
    assert store.summary().quarantine_newest == ["file:/runs/q: it is truncated"]
    stores.ingest(store, "q")
    store.register()
    assert (store.summary().quarantined, store.summary().quarantine_newest) == (0, [])


@dataclass(frozen=True)
class Looked:
    """How the store is at a moment, for `tidy`."""

    visible: Mapping[str, int]
    files: int
    """Of messages."""
    broken_off: int
    """Messages of a batch that was never committed."""
    strays: Collection[str]
    """Files of no version."""
    done: Tidied | None = None


@pytest.fixture(scope="module")
def tidying(store: Store) -> tuple[Looked, Looked]:
    """Before it was tidied, and after it was."""
    stores.ingest(store, "judged", messages=2)
    stores.ingest(store, "judged", messages=3, digest="other")
    stores.commit(store, store.begin(), "ancient", started=datetime(2021, 1, 1, tzinfo=UTC))
    stores.append(store, store.begin(), "broken-off", messages=7)
    # Files that a broken write left: no version names them.
    assert store.place.folder is not None
    messages = store.place.folder / MESSAGES.name
    for age, days in (("old", 8), ("young", 6)):
        (messages / f"{age}.parquet").write_bytes(b"")
        os.utime(messages / f"{age}.parquet", (written_s := time.time() - days * 24 * 3600, written_s))

    return look(store), look(store, tidy(store, print))


def look(store: Store, done: Tidied | None = None) -> Looked:
    assert store.place.folder is not None
    rows = store.read(MESSAGES)
    strays = [
        age for age in ("old", "young") if (store.place.folder / MESSAGES.name / f"{age}.parquet").exists()
    ]
    broken_off = rows.where("run = 'broken-off'").count()
    return Looked(stores.visible(store), len(rows.inputFiles()), broken_off, strays, done)


@pytest.mark.nightly
def test_tidy_removes_what_nobody_can_see_and_spares_what_is_under_way(
    store: Store, tidying: tuple[Looked, Looked]
) -> None:
    before, after = tidying
    tomorrow = datetime.now(UTC) + timedelta(days=1, minutes=1)
    later = look(store, tidy(store, print, tomorrow))
    assert after.done is not None
    assert later.done is not None
    assert (after.done.facts, after.broken_off) == (0, 7)
    assert later.done.facts >= 2 + 7
    assert later.broken_off == 0
    assert later.visible == after.visible == before.visible


def test_tidy_puts_the_small_files_of_many_ingests_together(tidying: tuple[Looked, Looked]) -> None:
    before, after = tidying
    assert (before.files > 1, after.files) == (True, 1)
    assert (set(before.strays), after.strays) == ({"old", "young"}, ["young"])


def test_tidy_without_keep_lets_all_runs_stay(
    spark: SparkSession, store: Store, tidying: tuple[Looked, Looked]
) -> None:
    assert [seen.done and seen.done.runs for seen in tidying] == [None, 0]
    assert store.read(RUNS).where("run = 'ancient'").count() == 1
    assert Store.open(spark, str(store.place.folder)).kept_since is None


@pytest.mark.parametrize("clock", ["monotonic", "time"])
def test_an_ingest_that_takes_half_a_day_does_not_commit(
    store: Store, monkeypatch: pytest.MonkeyPatch, clock: str
) -> None:
    """The monotonic clock stands still while the machine sleeps."""
    batch = store.begin()
    now = getattr(time, clock)()
    monkeypatch.setattr(time, clock, lambda: now + module.BATCH_LIMIT_S + 1)
    with pytest.raises(EnvironmentNotReady, match="longer than 12 hours"):
        stores.commit(store, batch, "slow")


def test_writers_that_really_conflict_lose_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on HDFS, where nobody locks: Delta finds the conflict, and the loser does it again."""
    conflicts: list[int] = []

    @contextmanager
    def no_lock(*_arguments: Any) -> Iterator[None]:
        conflicts.append(1)
        yield

    monkeypatch.setattr(transactions, "store_lock", no_lock)
    batches = [store.begin() for _ in range(3)]
    for number, batch in enumerate(batches):
        stores.append(store, batch, f"racer-{number}", "racer")
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda n: stores.commit(store, batches[n], f"racer-{n}", "racer"), range(3)))
    seen = {run: count for run, count in stores.visible(store).items() if run.startswith("racer")}
    assert seen == {"racer-0": 3, "racer-1": 3, "racer-2": 3, "racer": 3}
    assert len(conflicts) > 3, "no transaction had to be done again: nothing was tested"


def test_who_is_never_fast_enough_gives_up_with_a_message(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def beaten() -> None:
        raise ConcurrentAppendException("another writer")

    monkeypatch.setattr(transactions, "_ATTEMPTS", 2)
    with pytest.raises(EnvironmentNotReady, match="other writers were faster 2 times"):
        store.transactions.run(beaten)


@pytest.mark.nightly
def test_exported_files_have_what_counts(store: Store, tmp_path: Path) -> None:
    stores.ingest(store, "exported")
    stores.append(store, store.begin(), "unseen")
    seen = stores.visible(store)
    for form in Format:
        out = tmp_path / form
        assert set(export(store.spark, str(out), form, print)) == set(TABLES)
        read = store.spark.read.option("header", True).format(form).load(f"{out}/messages")
        assert read.count() == sum(seen.values())
    with pytest.raises(UsageProblem, match="something in"):
        export(store.spark, str(tmp_path), Format.CSV, print)


def test_no_store_is_a_message(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="there is no store"):
        Store.open(spark, str(tmp_path))


def test_a_folder_with_other_files_is_a_message(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / MESSAGES.name).mkdir()
    (tmp_path / MESSAGES.name / "mine.parquet").write_bytes(b"mine")
    with pytest.raises(UsageProblem, match=r"there is something in .+messages already, which is no table"):
        Store.create(spark, str(tmp_path))


def test_a_table_that_another_process_is_making_is_made_by_the_faster_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    """As on HDFS: its folder is there before its first commit."""
    half_made = tmp_path / MESSAGES.name / "_delta_log"
    half_made.mkdir(parents=True)
    (half_made / ".00000000000000000000.json.mine.tmp").touch()
    stores.ingest(Store.create(spark, str(tmp_path)), "mine")
    assert stores.visible(Store.open(spark, str(tmp_path))) == {"mine": 3}


def test_a_place_that_delta_can_not_use_is_a_message(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="no backtick"):
        Store.create(spark, str(tmp_path / "a`b"))


@pytest.mark.parametrize(
    ("uri", "said"), [("hdfs:///store", "the name node is missing"), ("viewfs:///store", "isn't set up")]
)
def test_a_file_system_that_needs_hadoops_settings_is_a_message_without_them(
    spark: SparkSession, uri: str, said: str
) -> None:
    with pytest.raises(EnvironmentNotReady, match=said), spark_failures(None):
        Store.create(spark, uri)


def test_places_that_can_be_no_store_are_messages(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    for text in (str(file), str(file / "below"), str(tmp_path / ("n" * 300))):
        with pytest.raises(UsageProblem, match="there is no store"):
            Store.open(spark, text)
        with pytest.raises(EnvironmentNotReady, match="can't be made"):
            Store.create(spark, text)
        with pytest.raises((UsageProblem, EnvironmentNotReady)):
            export(spark, text, Format.CSV, print)
