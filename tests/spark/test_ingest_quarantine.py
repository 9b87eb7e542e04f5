"""Folders leave the quarantine when they are sound again, whatever clocks say and whoever ingested them."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rocketchaos.harness.facts.folder_facts import read_folder
from rocketchaos.spark_reports.ingest.ingest import ingest
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.tables import MESSAGES, QUARANTINE, RUNS
from tests.spark import stores
from tests.spark.broken import change
from tests.spark.folders import TAGS, copy

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]


def quarantined(store: Store) -> set[str]:
    return {Path(row.source).name for row in store.read(QUARANTINE).collect()}


def problems(store: Store) -> set[str]:
    """As every report counts them."""
    store.register()
    return {Path(row.source).name for row in store.spark.table("quarantine").collect()}


@pytest.mark.nightly
def test_what_is_sound_again_leaves_the_quarantine(spark: SparkSession, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    restored, repaired, overtaken = (copy(runs, TAGS, item) for item in ("restored", "repaired", "overtaken"))
    shutil.copytree(restored, tmp_path / "backup")
    checks = (repaired / "checks.json").read_text()
    (repaired / "checks.json").write_text("{")
    store = stores.made(spark, tmp_path / "store")
    found: list[str] = []

    def again() -> dict[str, int]:
        found.clear()
        return dict(ingest(spark, store, [str(runs)], found.append).quarantined)

    assert again() == {"broken-json": 1}
    (restored / "checks.json").write_text("{")
    assert again() == {"broken-json": 2}
    assert problems(store) == {"restored", "repaired"}

    # As `cp -a` does, with all times; the clock was set back since; and another ingest, which had listed the
    # folder before it was judged anew, has found it changed after it was ingested.
    shutil.copy2(tmp_path / "backup" / "checks.json", restored / "checks.json")
    (repaired / "checks.json").write_text(checks)
    rows = {row.run: row.asDict() for row in store.read(QUARANTINE).collect()}
    late = datetime.now(UTC) + timedelta(days=1)
    other = {**rows["repaired"], "source": f"file:{overtaken}", "listing": "older", "run": "overtaken"}
    rows = {**rows, "overtaken": {**other, "kind": "still-running"}}
    late_rows = [{**row, "found": late} for row in rows.values()]
    store.quarantine(stores.frame(spark, QUARANTINE, *late_rows))
    assert problems(store) == {"restored", "repaired", "overtaken"}
    assert again() == {}
    assert quarantined(store) == problems(store) == set()
    assert {row.run for row in store.read(RUNS).collect()} == {"restored", "repaired", "overtaken"}
    assert again() == {}
    assert not any(text.startswith("ingesting") for text in found)


@pytest.mark.nightly
def test_what_ends_between_its_facts_and_its_commit_shows_nothing_and_the_next_does_it_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a run with two folders the copy, where the folder that was judged last has gone since."""
    kept, gone = copy(tmp_path / "kept", TAGS, "run"), copy(tmp_path / "gone", TAGS, "run")
    alone = copy(tmp_path / "alone", TAGS, "alone")
    os.utime(kept / "outcome.json", (1_600_000_000, 1_600_000_000))
    store = stores.made(spark, tmp_path / "store")

    def dies(*_unused: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Store, "commit", dies)
        with pytest.raises(KeyboardInterrupt):
            ingest(spark, store, [str(tmp_path)], print)
    store = Store.open(spark, str(tmp_path / "store"))
    assert store.read(MESSAGES).count() == 2 * 8
    assert stores.visible(store) == {}
    shutil.rmtree(gone)
    done = ingest(spark, store, [str(tmp_path)], print)
    assert (done.seen, done.ingested, done.replaced, done.unchanged) == (2, 2, 0, 0)
    assert {row.source for row in store.read(RUNS).collect()} == {f"file:{kept}", f"file:{alone}"}
    assert stores.visible(store) == {"run": 8, "alone": 8}


def test_the_first_broken_line_is_none_that_is_blank(tmp_path: Path) -> None:
    folder = copy(tmp_path, TAGS, "run")
    change(folder, "events.jsonl", lambda lines: [lines[0], " \n", "\n", "noise\n", *lines[1:]])
    assert read_folder(folder).seen.first_broken_event == 4


@pytest.mark.parametrize("found", [stores.NOW - timedelta(hours=1), stores.NOW + timedelta(hours=1)])
def test_a_half_copied_folder_of_a_run_that_counts_is_no_problem_whichever_was_ingested_first(
    store: Store, found: datetime
) -> None:
    """But its own folder, if it was broken since then, is one."""
    stores.ingest(store, "run")
    own, copied = ({"source": f"file:/{place}/run", "run": "run"} for place in ("runs", "copies"))
    rows = [{**row, "kind": "broken-json", "found": found} for row in (own, copied)]
    store.quarantine(stores.frame(store.spark, QUARANTINE, *rows))
    store.register()
    seen = {row.source for row in store.spark.table("quarantine").collect()}
    assert seen == ({"file:/runs/run"} if found > stores.NOW else set())


def test_a_folder_that_was_quarantined_anew_meanwhile_is_not_released(store: Store) -> None:
    row = {"source": "file:/runs/anew", "kind": "truncated", "found": stores.NOW}
    store.quarantine(stores.frame(store.spark, QUARANTINE, {**row, "batch": "first"}))
    store.quarantine(stores.frame(store.spark, QUARANTINE, {**row, "batch": "second"}))
    store.release({"file:/runs/anew": "first"})
    assert quarantined(store) == {"anew"}
    store.release({"file:/runs/anew": "second"})
    assert quarantined(store) == set()


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> Store:
    return stores.made(spark, tmp_path / "store")
