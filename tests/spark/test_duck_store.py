"""Reports by DuckDB: the same as by Spark, and one message where DuckDB can't read the store."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow
import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.spark_reports.diff import diff_between
from rocketchaos.spark_reports.diff.sides import between
from rocketchaos.spark_reports.duck_store import DuckStore
from rocketchaos.spark_reports.ingest.ingest import ingest
from rocketchaos.spark_reports.render.document import document
from rocketchaos.spark_reports.report_kinds import REPORTS
from rocketchaos.spark_reports.store import Store
from tests.spark import stores
from tests.spark.folders import ASKED, KILL, TAGS, copy

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def store(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Of recorded runs, by two ingests, with two folders in quarantine."""
    place = tmp_path_factory.mktemp("duck")
    made = stores.made(spark, place / "a store")
    for night in ("first", "second"):
        for name in (KILL, TAGS, ASKED):
            copy(place / night, name, f"{name}-{night}")
        made.begin_ingest()
        (copy(place / night, TAGS, f"{night}-broken") / "events.jsonl").write_text("{", encoding="utf-8")
        ingest(spark, made, [str(place / night)], lambda _text: None)
    made.register()
    return made


@pytest.fixture(scope="module")
def duck(store: Store) -> Iterator[DuckStore]:
    with DuckStore.opened(str(store.place.folder)) as opened:
        opened.register()
        yield opened


def test_the_summary_is_that_of_spark(store: Store, duck: DuckStore) -> None:
    assert duck.summary() == store.summary()
    assert duck.summary().runs == 6
    assert duck.summary().quarantined == 2


def test_a_comparison_of_nights_is_that_of_spark(store: Store, duck: DuckStore) -> None:
    nights = between("2000-01-01/2026-01-01", "2026-01-01/2100-01-01")
    ours, verdict = diff_between(store.session, store.summary(), nights)
    theirs, other = diff_between(duck.session, duck.summary(), nights)
    assert (document(theirs), other) == (document(ours), verdict)


def test_the_command_makes_the_files(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--store", str(store.place.folder), "--engine", "duckdb"]
    assert main(["report", "all", *arguments, "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("Page: ") == len(REPORTS)
    assert all((tmp_path / f"{name}.html").is_file() for name in REPORTS)
    assert main(["report", "diff", *arguments, "--line"]) in (ExitCode.AS_EXPECTED, ExitCode.INCONCLUSIVE)


def copied(store: Store, folder: Path) -> Path:
    assert store.place.folder is not None
    shutil.copytree(store.place.folder, folder)
    return folder


def test_a_file_of_another_writer_may_have_times_with_a_zone_and_fewer_columns(
    store: Store, tmp_path: Path
) -> None:
    folder = copied(store, tmp_path / "store")
    found = datetime(2026, 3, 1, 2, 11, tzinfo=UTC)
    row = {"source": "file:/elsewhere", "kind": "gone", "found": found}
    write_deltalake(
        folder / "quarantine", pyarrow.Table.from_pylist([row]), mode="append", schema_mode="merge"
    )
    with DuckStore.opened(str(folder)) as opened:
        opened.register()
        rows = opened.session.sql(
            "SELECT found, line FROM quarantine WHERE source = 'file:/elsewhere'"
        ).collect()
        assert [tuple(row) for row in rows] == [(found, None)]
        assert opened.summary().quarantined == 3


@pytest.mark.parametrize("cut", [None, 200])
def test_a_damaged_file_is_a_message(store: Store, tmp_path: Path, cut: int | None) -> None:
    folder = copied(store, tmp_path / "store")
    for file in (folder / "messages").glob("*.parquet"):
        kept = file.read_bytes()[:cut]
        file.unlink()
        if cut is not None:
            file.write_bytes(kept)
    with (
        pytest.raises(UsageProblem, match=r"can't read .*messages"),
        DuckStore.opened(str(folder)) as opened,
    ):
        opened.register()


@pytest.mark.parametrize(("cut", "said"), [(0, "is empty"), (300, "can't read .*messages")])
def test_a_damaged_log_is_a_message(store: Store, tmp_path: Path, cut: int, said: str) -> None:
    folder = copied(store, tmp_path / "store")
    commit = max((folder / "messages" / "_delta_log").glob("*.json"))
    commit.write_bytes(commit.read_bytes()[:cut])
    with pytest.raises(UsageProblem, match=said), DuckStore.opened(str(folder)) as opened:
        opened.register()


def test_a_store_of_another_version_or_without_a_table_is_a_message(
    spark: SparkSession, tmp_path: Path
) -> None:
    there = stores.made(spark, tmp_path / "store")
    spark.sql(
        f"ALTER TABLE delta.`{there.place.of_table('runs')}` SET TBLPROPERTIES "
        "('rocketchaos.store-version' = '3')"
    )
    with pytest.raises(UsageProblem, match="report migrate"), DuckStore.opened(str(tmp_path / "store")):
        pass
    stores.made(spark, tmp_path / "other")
    shutil.rmtree(tmp_path / "other" / "faults")
    with pytest.raises(UsageProblem, match="no table faults"), DuckStore.opened(str(tmp_path / "other")):
        pass


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("flakiness", "--store", "s3a://bucket/store"), "s3a://bucket/store is elsewhere"),
        (("flakiness", "--store", "nothing"), "there is no store at"),
        (("flakiness", "--store", "."), "there is no store at"),
        (("flakiness", "--store", "100%25"), "has a % in its path"),
        (("flakiness", "--store", ".", "--master", "local[1]"), "--master is Spark's"),
        (("all", ".", "--store", "."), "only Spark reads runs into a store"),
    ],
)
def test_a_store_that_duckdb_can_not_read_is_one_message(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", *arguments, "--out", "out", "--engine", "duckdb"]) == ExitCode.USAGE
    shown = capsys.readouterr().err
    assert said in " ".join(shown.split())
    assert "Leave out" in shown or "Leave one" in shown or "Ingest runs first" in shown
