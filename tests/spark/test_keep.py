"""Old runs leave the store, and don't come back though their folders are there."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rocketchaos.spark_reports.ingest import made_anew, portion
from rocketchaos.spark_reports.ingest.folder_list import Folder
from rocketchaos.spark_reports.ingest.ingest import ingest
from rocketchaos.spark_reports.ingest.summary import IngestSummary
from rocketchaos.spark_reports.retention import keep_since
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.tables import AGED, MESSAGES, QUARANTINE, RUNS
from rocketchaos.spark_reports.tidy import tidy
from tests.spark import stores
from tests.spark.folders import TAGS, copy

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

DAY_MS = 24 * 3600 * 1000
KEEP = timedelta(days=400)


def aged_by(folder: Path, days: int) -> Path:
    """The same run, that many days ago."""
    events = folder / "events.jsonl"

    def earlier(found: re.Match[str]) -> str:
        return f"{found[1]}{int(found[2]) - days * DAY_MS}"

    events.write_text(re.sub(r'("wall_ms": ?)(\d+)', earlier, events.read_text()))
    return folder


def runs_of(store: Store) -> set[str]:
    return {row.run for row in store.read(RUNS).select("run").collect()}


def started(store: Store, run: str) -> datetime:
    row = store.read(RUNS).where(f"run = '{run}'").select("started").first()
    assert row is not None
    moment: datetime = row.started
    return moment.astimezone(UTC)


@pytest.mark.nightly
def test_old_runs_are_gone_and_an_ingest_of_the_same_folders_does_not_bring_them_back(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = tmp_path / "runs"
    copy(runs, TAGS, "young")
    old = aged_by(copy(runs, TAGS, "old"), days=300)
    store = stores.made(spark, tmp_path / "store")
    read: list[str] = []

    def again() -> IngestSummary:
        read.clear()
        return ingest(spark, Store.open(spark, str(tmp_path / "store")), [str(runs)], print)

    def columns(spark: SparkSession, folders: list[Folder], target: Path) -> list[made_anew.MadeAnew]:
        read.extend(Path(item.source).name for item in folders)
        return made_anew.made_anew(spark, folders, target)

    monkeypatch.setattr(portion, "made_anew", columns)
    assert again().ingested == 2
    now = started(store, "young") + timedelta(days=101)
    tomorrow = max(now, datetime.now(UTC) + timedelta(days=1, minutes=1))
    keep = KEEP + (tomorrow - now)

    done = tidy(store, print, tomorrow, keep)
    assert (done.runs, runs_of(store)) == (1, {"young"})
    assert done.facts > 0
    assert not store.read(MESSAGES).where("run = 'old'").count()
    store.register()
    assert (store.summary().quarantined, store.summary().kept_since) == (0, tomorrow - keep)

    # It is known as it is listed, and not read.
    done_again = again()
    assert (done_again.aged, done_again.unchanged, done_again.ingested, read) == (1, 1, 0, [])
    # Judged anew, or found elsewhere, it is read, and passed over all the same.
    outcome = old / "outcome.json"
    outcome.write_text(json.dumps({**json.loads(outcome.read_text()), "reason": "another"}))
    shutil.copytree(old, runs / "elsewhere" / "old")
    done_again = again()
    assert (done_again.aged, done_again.ingested, sorted(read)) == (2, 0, ["old", "old"])
    assert runs_of(store) == {"young"}
    assert store.read(QUARANTINE).where(f"kind = '{AGED}'").count() == 2

    # Where it is gone from the disk, nothing of it stays.
    shutil.rmtree(runs / "elsewhere")
    again()
    assert store.read(QUARANTINE).where(f"kind = '{AGED}'").count() == 1

    # Who keeps more gets back what is still on the disk.
    assert tidy(store, print, tomorrow, keep + KEEP).runs == 0
    assert again().ingested == 1
    assert runs_of(store) == {"young", "old"}


def test_a_run_whose_clock_was_wrong_is_as_old_as_its_ingest(spark: SparkSession, tmp_path: Path) -> None:
    store = stores.made(spark, tmp_path)
    wrong = datetime(1970, 1, 1, tzinfo=UTC)
    stores.commit(store, store.begin(), "wrong", started=wrong, ingested=stores.NOW)
    assert keep_since(store, stores.NOW - timedelta(days=1)) == 0
    assert keep_since(store, stores.NOW + timedelta(days=1)) == 1
