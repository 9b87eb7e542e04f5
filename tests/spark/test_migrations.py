"""Stores of another version: a message, and how they are brought up to date."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rocketchaos.harness.cli import report_store
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.spark_reports import migrations
from rocketchaos.spark_reports.migrations import migrate
from rocketchaos.spark_reports.places import Place
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.store_state import VERSION_PROPERTY
from rocketchaos.spark_reports.tables import MESSAGES, RUNS, STORE_VERSION, TABLES
from rocketchaos.spark_reports.tidy import tidy
from tests.spark import stores

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("version", "way_out"), [(0, "report migrate"), (STORE_VERSION + 1, "newer rocketchaos")]
)
def test_a_store_of_another_version_is_a_message(
    spark: SparkSession, tmp_path: Path, version: int, way_out: str
) -> None:
    _old_store(spark, tmp_path, version)
    for act in (Store.open, Store.create):
        with pytest.raises(UsageProblem, match=f"has version {version}") as raised:
            act(spark, str(tmp_path))
        assert way_out in raised.value.hint


def test_an_old_store_is_brought_up_to_date_and_its_runs_can_be_made_whole(
    spark: SparkSession, tmp_path: Path
) -> None:
    _old_store(spark, tmp_path, 0)
    assert migrate(spark, str(tmp_path), print) == 0
    assert migrate(spark, str(tmp_path), print) == STORE_VERSION
    store = Store.open(spark, str(tmp_path))
    for table in TABLES.values():
        assert set(store.read(table).columns) == set(table.columns)
    row = store.read(RUNS).first()
    assert row is not None
    assert (row.run, row.outcome, row.client_version, row.digest) == ("old", "reproduced", None, None)
    stores.ingest(store, "old")
    assert stores.visible(store) == {"old": 3}


@pytest.mark.nightly
def test_small_files_of_a_store_of_version_1_can_be_put_together_once_it_was_migrated(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = stores.made(spark, tmp_path)
    for run in ("one", "other"):
        stores.ingest(store, run)
    of_messages, of_runs = (store.place.of_table(table.name) for table in (MESSAGES, RUNS))
    known = "'delta.dataSkippingStatsColumns' = 'run_key'"
    spark.sql(f"ALTER TABLE delta.`{of_messages}` SET TBLPROPERTIES ({known})")
    rows = store.read(MESSAGES).write.format("delta").mode("overwrite").option("overwriteSchema", True)
    rows.partitionBy("batch").save(of_messages)
    spark.sql(f"ALTER TABLE delta.`{of_runs}` SET TBLPROPERTIES ('{VERSION_PROPERTY}' = '1')")
    assert migrate(spark, str(tmp_path), print) == 1
    tidy(store, print)
    assert len(store.read(MESSAGES).inputFiles()) == 1
    assert stores.visible(store) == {"one": 3, "other": 3}


@pytest.mark.nightly
def test_runs_of_a_store_of_version_3_have_no_owner_and_new_ones_do(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = stores.made(spark, tmp_path)
    stores.ingest(store, "old")
    of_runs = store.place.of_table(RUNS.name)
    rows = store.read(RUNS).drop("scenario_owner").localCheckpoint()
    rows.write.format("delta").mode("overwrite").option("overwriteSchema", True).save(of_runs)
    spark.sql(f"ALTER TABLE delta.`{of_runs}` SET TBLPROPERTIES ('{VERSION_PROPERTY}' = '3')")
    assert migrate(spark, str(tmp_path), print) == 3
    stores.commit(Store.open(spark, str(tmp_path)), "b", "new", scenario_owner="payments")
    owners = {row.run: row.scenario_owner for row in store.read(RUNS).collect()}
    assert owners == {"old": None, "new": "payments"}
    assert stores.visible(store) == {"old": 3}


@pytest.mark.parametrize(("version", "gaps"), [(0, True), (1, False), (STORE_VERSION, False)])
def test_run_folders_are_asked_for_only_where_a_migration_leaves_gaps(
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    version: int,
    *,
    gaps: bool,
) -> None:
    monkeypatch.setattr(report_store, "spark_for", lambda *_arguments: nullcontext((spark, print)))
    monkeypatch.setattr(migrations, "migrate", lambda *_arguments: version)
    report_store.migrate("store")
    said = capsys.readouterr().out
    assert f"version {version}" in said
    assert ("ingest its runs again" in said) is gaps


def _old_store(spark: SparkSession, folder: Path, version: int) -> None:
    """A store with a table and a few columns, as one that was made long ago, or will be made one day."""
    row = {"run": "old", "run_key": 1, "batch": "b", "outcome": "reproduced", "digest": "d"}
    path = Place.of(str(folder)).of_table(RUNS.name)
    spark.createDataFrame(
        [tuple(row.values())], "run STRING, run_key LONG, batch STRING, outcome STRING, digest STRING"
    ).write.format("delta").save(path)
    if version:
        spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('{VERSION_PROPERTY}' = '{version}')")
