"""Stores that are damaged: messages with the way out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.spark_reports.failures import spark_failures
from rocketchaos.spark_reports.store import Store
from tests.spark import stores

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("lost", ["messages", "runs/_delta_log"])
def test_a_store_that_lacks_a_table_is_a_message(spark: SparkSession, tmp_path: Path, lost: str) -> None:
    store = stores.made(spark, tmp_path)
    stores.append(store, store.begin(), "some")
    shutil.rmtree(tmp_path / lost)
    with pytest.raises(UsageProblem, match="no table messages" if lost == "messages" else "damaged|no store"):
        Store.open(spark, str(tmp_path))
    with pytest.raises(UsageProblem, match=f"no table {lost.partition('/')[0]}"):
        Store.create(spark, str(tmp_path))


@pytest.mark.parametrize(
    ("table", "number", "cut"),
    [("runs", 0, None), ("messages", 1, None), ("runs", -1, None), ("messages", -1, None),
     ("runs", 1, 0), ("messages", -1, 0), ("runs", -1, 300), ("messages", 0, 300)],
)  # fmt: skip
def test_a_damaged_log_is_a_message_with_the_way_out(
    whole: Path, spark: SparkSession, tmp_path: Path, table: str, number: int, cut: int | None
) -> None:
    """A commit that is gone, or that was cut."""
    folder = tmp_path / "store"
    shutil.copytree(whole, folder)
    commit = sorted((folder / table / "_delta_log").glob("*.json"))[number]
    if cut is None:
        commit.unlink()
    else:
        commit.write_bytes(commit.read_bytes()[:cut])
    assert "make a new store of the run folders" in _way_out_of(spark, folder)


@pytest.mark.parametrize("cut", [None, 200])
def test_a_damaged_file_of_facts_is_a_message_with_the_way_out(
    whole: Path, spark: SparkSession, tmp_path: Path, cut: int | None
) -> None:
    folder = tmp_path / "store"
    shutil.copytree(whole, folder)
    file = next((folder / "messages").glob("*.parquet"))
    if cut is None:
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:cut])
    assert "make a new store of the run folders" in _way_out_of(spark, folder)


@pytest.fixture(scope="module")
def whole(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of a few commits."""
    folder = tmp_path_factory.mktemp("whole") / "store"
    store = stores.made(spark, folder)
    stores.ingest(store, "one")
    stores.ingest(store, "other")
    return folder


def _way_out_of(spark: SparkSession, folder: Path) -> str:
    """Of reading a store that is damaged."""
    with pytest.raises((UsageProblem, EnvironmentNotReady), match="damaged") as raised, spark_failures(None):
        stores.visible(Store.open(spark, str(folder)))
    return raised.value.hint or ""
