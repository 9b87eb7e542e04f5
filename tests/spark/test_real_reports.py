"""All reports over recorded runs: DuckDB makes the same ones as Spark, and their pages are whole in a browser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from pyspark.sql import SparkSession

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.duck_store import DuckStore
from rocketchaos.spark_reports.ingest.ingest import ingest
from rocketchaos.spark_reports.render.document import document
from rocketchaos.spark_reports.render.page import page
from rocketchaos.spark_reports.report import RUN_COLUMNS, Report
from rocketchaos.spark_reports.report_kinds import REPORTS
from rocketchaos.spark_reports.store import Store
from tests.browser.chromium import chromium
from tests.browser.opened import drawn, is_calm, opened
from tests.spark import stores
from tests.spark.folders import GOLDEN

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def store(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = stores.made(spark, tmp_path_factory.mktemp("store") / "store")
    assert ingest(spark, made, [str(GOLDEN)], lambda _text: None).ingested > 25
    made.register()
    return made


@pytest.fixture(scope="module")
def reports(store: Store) -> Mapping[str, Report]:
    summary = store.summary()
    return {name: build(Answers(store.session), summary) for name, build in REPORTS.items()}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.mark.parametrize("name", REPORTS)
def test_duckdb_makes_the_same_report(store: Store, reports: Mapping[str, Report], name: str) -> None:
    with DuckStore.opened(str(store.place.folder)) as duck:
        duck.register()
        theirs = REPORTS[name](Answers(duck.session), duck.summary())
    # One ingest has nothing to compare with.
    assert any(table.rows for table in theirs.tables) or name == "diff"
    assert document(theirs) == document(reports[name])


@pytest.mark.browser
@pytest.mark.parametrize("name", REPORTS)
def test_a_page_over_recorded_runs_is_whole(
    browser: Browser, reports: Mapping[str, Report], tmp_path: Path, name: str
) -> None:
    report, file = reports[name], tmp_path / f"{name}.html"
    file.write_text(page(report, tmp_path), encoding="utf-8")
    # What is new is told in tables alone.
    assert report.figures or name == "diff"
    with opened(browser, file) as item:
        drawn(item, report)
        is_calm(item)
        assert item.page.locator("table[id^=table-]").count() == sum(
            bool(table.rows) for table in report.tables
        )


def test_every_column_that_names_runs_is_known_to_the_page(reports: Mapping[str, Report]) -> None:
    """Otherwise its runs would be text, and no links."""
    found = {
        column
        for report in reports.values()
        for table in report.tables
        for row in table.rows
        for column, value in row.items()
        if isinstance(value, str) and value.startswith("file:")
    }
    assert found
    assert found - RUN_COLUMNS == set()
