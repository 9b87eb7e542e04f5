"""Small stores are read as plain Parquet files: the same rows as Delta's, and Delta reads all others."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.spark_reports import places
from rocketchaos.spark_reports.duck_store import DuckStore
from rocketchaos.spark_reports.plain_files import plain_frames
from rocketchaos.spark_reports.store import Store, delta_version
from rocketchaos.spark_reports.tables import MESSAGES, RUNS, TABLES
from tests.spark import stores

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def whole(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a run that was judged again, so that a file of `runs` is in the folder and not in the table."""
    folder = tmp_path_factory.mktemp("plain") / "whole [1]"
    store = stores.made(spark, folder)
    stores.ingest(store, "one", "two")
    stores.ingest(store, "one", messages=2, digest="other")
    return folder


def plain(spark: SparkSession, folder: Path) -> Mapping[str, DataFrame] | None:
    store = Store.open(spark, str(folder))
    versions = {name: delta_version(spark, store.place.of_table(name)) for name in TABLES}
    return plain_frames(spark, store.place, versions)


@pytest.mark.nightly
def test_the_rows_and_columns_are_those_that_delta_reads(spark: SparkSession, whole: Path) -> None:
    frames = plain(spark, whole)
    assert frames is not None
    store = Store.open(spark, str(whole))
    assert len(list((whole / RUNS.name).glob("*.parquet"))) > len(store.read(RUNS).inputFiles())
    for name, table in TABLES.items():
        delta = store.read(table)
        assert frames[name].schema == delta.schema
        assert sorted(map(repr, frames[name].collect())) == sorted(map(repr, delta.collect()))
    assert frames[MESSAGES.name].count() == 4 + 2 + 2


def test_views_are_of_plain_files_and_stay_at_their_moment(spark: SparkSession, whole: Path) -> None:
    store = Store.open(spark, str(whole))
    store.register()
    plan = spark.table(MESSAGES.name)._jdf.queryExecution().toString()  # type: ignore[operator]
    assert "Tahoe" not in plan
    assert "InMemoryFileIndex" in plan


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("SET TBLPROPERTIES ('delta.enableDeletionVectors' = true)", "a file has rows that don't count"),
        ("SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "a file has other names of columns"),
    ],
)
def test_a_table_that_is_more_than_its_files_is_read_by_delta(
    spark: SparkSession, whole: Path, tmp_path: Path, statement: str, why: str
) -> None:
    folder = tmp_path / "store"
    shutil.copytree(whole, folder)
    spark.sql(f"ALTER TABLE delta.`{folder / MESSAGES.name}` {statement}")
    assert plain(spark, folder) is None, why
    assert stores.visible(Store.open(spark, str(folder))) == {"one": 2, "two": 3}
    with (
        DuckStore.opened(str(folder)) as opened,
        pytest.raises(UsageProblem, match=r"messages: .* Parquet files"),
    ):
        opened.register()


def test_a_file_that_is_gone_is_left_to_delta(spark: SparkSession, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    shutil.copytree(whole, folder)
    next(iter((folder / MESSAGES.name).glob("*.parquet"))).unlink()
    assert plain(spark, folder) is None


def test_a_large_store_is_left_to_delta(
    spark: SparkSession, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "_SMALL_BYTES", 100)
    assert plain(spark, whole) is None


def test_a_path_that_deltalake_takes_for_another_one_is_left_to_delta(
    spark: SparkSession, whole: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "a%20b"
    shutil.copytree(whole, folder)
    assert plain(spark, folder) is None
