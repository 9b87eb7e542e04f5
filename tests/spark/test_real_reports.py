"""The pages of all reports over recorded runs, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from pyspark.sql import SparkSession

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.ingest.ingest import ingest
from rocketchaos.spark_reports.render.page import page
from rocketchaos.spark_reports.report import RUN_COLUMNS, Report
from rocketchaos.spark_reports.report_kinds import REPORTS
from tests.browser.chromium import chromium
from tests.browser.opened import drawn, is_calm, opened
from tests.spark import stores
from tests.spark.folders import GOLDEN

pytestmark = [pytest.mark.spark, pytest.mark.browser, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """First, so that nothing is made where it can't be opened."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def pages(
    browser: Browser, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, tuple[Report, Path]]:
    del browser
    place = tmp_path_factory.mktemp("pages")
    store = stores.made(spark, place / "store")
    assert ingest(spark, store, [str(GOLDEN)], lambda _text: None).ingested > 25
    store.register()
    summary = store.summary()
    made = {}
    for name, build in REPORTS.items():
        report, file = build(Answers(spark), summary), place / f"{name}.html"
        file.write_text(page(report, place), encoding="utf-8")
        made[name] = report, file
    return made


@pytest.mark.parametrize("name", REPORTS)
def test_a_page_over_recorded_runs_is_whole(
    browser: Browser, pages: Mapping[str, tuple[Report, Path]], name: str
) -> None:
    report, file = pages[name]
    # What is new is told in tables alone.
    assert report.figures or name == "diff"
    with opened(browser, file) as item:
        drawn(item, report)
        is_calm(item)
        assert item.page.locator("table[id^=table-]").count() == sum(
            bool(table.rows) for table in report.tables
        )


def test_every_column_that_names_runs_is_known_to_the_page(pages: Mapping[str, tuple[Report, Path]]) -> None:
    """Otherwise its runs would be text, and no links."""
    found = {
        column
        for report, _ in pages.values()
        for table in report.tables
        for row in table.rows
        for column, value in row.items()
        if isinstance(value, str) and value.startswith("file:")
    }
    assert found
    assert found - RUN_COLUMNS == set()
