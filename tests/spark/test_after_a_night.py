"""What follows a night: its runs are read into the store, and every report is written over it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rocketchaos.harness.cli import report_pages
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.spark_reports import spark_session
from rocketchaos.spark_reports.report import StoreSummary
from rocketchaos.spark_reports.store import Store
from tests.spark import stores
from tests.spark.folders import TAGS, copy

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

AFTER_A_NIGHT = """
import sys
from pathlib import Path
from rocketchaos.harness.cli.night_account import read_into
sys.exit(sum(read_into(sys.argv[2], Path(sys.argv[1]), Path(sys.argv[3]))))
"""


def after_a_night(*places: Path) -> tuple[int, str]:
    with stores.process(AFTER_A_NIGHT, *map(str, places)) as running:
        _out, text = running.communicate(timeout=480)
        return running.returncode, text


@pytest.mark.nightly
def test_its_runs_are_in_the_store_and_the_pages_are_named(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("first", "second"):
        copy(tmp_path / "runs", TAGS, name)
    code, text = after_a_night(tmp_path / "runs", tmp_path / "store", tmp_path / "reports")
    assert code == ExitCode.AS_EXPECTED, text
    assert set(stores.visible(Store.open(spark, str(tmp_path / "store")))) == {"first", "second"}
    for page in ("flakiness.html", "divergence.html", "timing.html"):
        assert "<!doctype html>" in (tmp_path / "reports" / page).read_text(encoding="utf-8")[:200].lower()
        assert page in text


def test_report_all_reads_the_runs_that_it_is_given_first(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def shared(*_args: object, **_options: object) -> Iterator[SparkSession]:
        yield spark

    reported: list[int] = []

    def written(_store: Store, summary: StoreSummary, *_more: object) -> list[object]:
        reported.append(summary.runs)
        return []

    monkeypatch.setattr(spark_session, "spark_session", shared)
    monkeypatch.setattr(report_pages, "_written", written)
    copy(tmp_path / "runs", TAGS, "first")
    stores.made(spark, tmp_path / "store")
    store, out = str(tmp_path / "store"), str(tmp_path / "reports")
    assert report_pages.all_reports(store, out, [str(tmp_path / "runs")]) == ExitCode.AS_EXPECTED
    printed = capsys.readouterr().out
    assert printed.startswith("1 run folder: 1 new, 0 judged again, 0 unchanged, 0 in quarantine")
    assert report_pages.all_reports(store, out) == ExitCode.AS_EXPECTED
    assert "run folder" not in capsys.readouterr().out
    assert reported == [1, 1]


def test_a_store_that_is_none_is_one_message_and_a_code(tmp_path: Path) -> None:
    copy(tmp_path / "runs", TAGS, "first")
    (tmp_path / "store").write_text("a letter")
    code, text = after_a_night(tmp_path / "runs", tmp_path / "store", tmp_path / "reports")
    assert code in (ExitCode.USAGE, ExitCode.ENVIRONMENT)
    (line,) = [line for line in text.splitlines() if line.startswith("rocketchaos: ")]
    assert str(tmp_path / "store") in line
    assert "Traceback" not in text
