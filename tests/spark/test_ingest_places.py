"""Where run folders are: paths like globs, places that only Spark reaches."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rocketchaos.spark_reports.ingest import folder_list
from rocketchaos.spark_reports.ingest.ingest import ingest
from rocketchaos.spark_reports.store import Store
from tests.spark import stores
from tests.spark.broken import change, set_in
from tests.spark.folders import KILL, TAGS, copy

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]


@pytest.mark.nightly
def test_folders_and_a_store_whose_path_looks_like_a_glob(spark: SparkSession, tmp_path: Path) -> None:
    """For Spark such a path names others, or none."""
    place = tmp_path / "runs [1]{a}*?\\%20"
    sound = copy(place / "r", TAGS, "sound")
    other = copy(place / "r", KILL, "other")
    set_in(other, "outcome.json", outcome="reproduced", as_expected=False)
    (other / "logs").mkdir()
    (other / "logs" / "broker.log").write_text("2026-11-21 21:51:18.983 ERROR Thread_12 - no disk\n")
    cut = copy(place / "r", TAGS, "cut")
    change(cut, "events.jsonl", lambda all_: [*all_[:4], "noise\n", *all_[5:]])
    store = Store.create(spark, str(place / "store"))
    done = ingest(spark, store, [str(place / "r")], print)
    assert (done.seen, done.ingested, done.messages, done.quarantined) == (3, 2, 16, {"broken-json": 1})
    again = Store.open(spark, str(place / "store"))
    again.register()
    assert {row.source for row in spark.table("runs").collect()} == {f"file:{sound}", f"file:{other}"}
    assert sum(stores.visible(again).values()) == 16
    assert [row.text[-7:] for row in spark.table("findings").where("kind = 'log'").collect()] == ["no disk"]
    (bad,) = spark.table("quarantine").collect()
    assert (bad.source, bad.line) == (f"file:{cut}", 5)
    for statement in again.summary().views:
        spark.sql(statement)
    assert spark.table("runs").count() == 2


def test_folders_that_only_spark_reaches_are_looked_at_again_by_their_very_names(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_list, "is_local", lambda _source: False)
    sources = [f"file:{copy(tmp_path / 'runs [1]{a}', TAGS, name)}" for name in ("one", "other")]
    assert set(folder_list.again(spark, [folder_list.Folder(source) for source in sources])) == set(sources)


def test_folders_that_only_spark_reaches_are_found_though_they_have_a_scenario_alone(
    spark: SparkSession, tmp_path: Path
) -> None:
    """As where the harness was killed at its start. What they are compared by is the same as on a disk."""
    killed = tmp_path / "s" / "20261121T192459.680-7"
    (killed / "logs").mkdir(parents=True)
    (killed / "scenario.yaml").write_text("name: s\n")
    copy(tmp_path, TAGS, "whole")
    found = folder_list.listed_by_spark(spark, [f"file:{tmp_path}"])
    local = folder_list.run_folders(spark, [str(tmp_path)])
    assert [run_folder.source for run_folder in local] == sorted(item.source for item in found)
    assert {item.source: item.listing for item in found} == {
        run_folder.source: run_folder.listing for run_folder in local
    }
    assert not next(item for item in found if item.source.endswith("-7")).files
