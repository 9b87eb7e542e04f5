"""Tables of a page in a real browser, at a desk and on a phone: what is filtered, and how, is in the address."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from rocketchaos.spark_reports.render.page import page
from rocketchaos.spark_reports.report import Report, Section, Table
from tests.browser.chromium import LIMIT_MS
from tests.browser.opened import Opened, is_calm, opened
from tests.unit.spark_reports.render.samples import empty, whole

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

MOST_BYTES = 2_000_000


def with_keys(report: Report) -> Report:
    """The same, its rows with links of their own."""
    first, *others = report.sections
    parts = [
        replace(part, rows_are="cell", key=("scenario", "client", "rocketmq", "runs"))
        if isinstance(part, Table)
        else part
        for part in first.parts
    ]
    return replace(report, sections=[Section(first.title, first.says, parts), *others])


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    file = folder / "sample.html"
    file.write_text(page(with_keys(whole(count=500)), folder), encoding="utf-8")
    return file


def shown(tab: Page) -> list[list[str]]:
    """The rows that are seen, in their order."""
    texts: list[list[str]] = tab.locator("#table-cells-table tbody tr").evaluate_all(
        "rows => rows.filter(row => !row.hidden).map(row => [...row.cells].map(cell => cell.textContent.trim()))"
    )
    return texts


def reopened(item: Opened) -> Page:
    """The same address, in another tab."""
    tab = item.page.context.new_page()
    tab.goto(item.page.url, timeout=LIMIT_MS)
    tab.locator("html[data-drawn]").wait_for(state="attached")
    return tab


@pytest.mark.parametrize("width", [1280, pytest.param(360, marks=pytest.mark.nightly)])
def test_what_is_chosen_is_in_the_address(browser: Browser, sample: Path, width: int) -> None:
    with opened(browser, sample, width=width, height=740) as item:
        assert len(shown(item.page)) == 500
        item.page.get_by_label("Client").select_option("grpc")
        item.page.get_by_label("Scenario").select_option("late-joiner")
        item.page.get_by_label("From").fill("2026-03-01")
        item.page.get_by_label("To").fill("2026-06-30")
        item.page.locator("#table-cells-table th[title=runs] button").click()
        item.page.locator("#table-cells-table th[title=runs] button").click()
        item.page.get_by_label("Filter", exact=True).fill("broker-a")
        rows = shown(item.page)
        assert 0 < len(rows) < 25
        assert {(row[0].lstrip("# "), row[1]) for row in rows} == {("late-joiner", "grpc")}
        assert all("2026-03-01" <= row[8][:10] <= "2026-06-30" for row in rows)
        runs = [int(row[4]) for row in rows]
        assert runs == sorted(runs, reverse=True)
        assert len(set(runs)) > 1
        said = item.page.locator("#filters output")
        assert said.inner_text() == (
            "Tables show: Scenario late-joiner, Client grpc, From 2026-03-01, To 2026-06-30."
        )
        tab = reopened(item)
        assert shown(tab) == rows
        assert tab.get_by_label("Client").input_value() == "grpc"
        assert tab.get_by_label("Filter", exact=True).input_value() == "broker-a"
        item.page.get_by_role("button", name="Show all").click()
        item.page.get_by_label("Filter", exact=True).fill("")
        assert len(shown(item.page)) == 500
        is_calm(item)


def test_a_link_to_a_row_leads_there_whatever_is_filtered(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as item:
        row = item.page.locator("#table-cells-table tbody tr", has_text="java").nth(60)
        anchor = row.get_attribute("id")
        item.page.get_by_label("Client").select_option("grpc")
        assert not row.is_visible()
        item.page.evaluate("anchor => { location.hash = anchor }", anchor)
        linked = item.page.locator(f"#{anchor}")
        expect(linked).to_be_in_viewport(timeout=LIMIT_MS)
        assert linked.get_attribute("class") == "target"
        assert len(shown(item.page)) == 101
        tab = reopened(item)
        expect(tab.locator(f"#{anchor}")).to_be_in_viewport(timeout=LIMIT_MS)
        assert len(shown(tab)) == 101
        is_calm(item)


def test_an_address_that_is_cut_within_an_escape_filters_by_what_is_left(
    browser: Browser, sample: Path
) -> None:
    with opened(browser, sample, width=1280, height=740) as item:
        item.page.evaluate("location.hash = '?words.table-cells=%C3%&scenario=late-joiner'")
        expect(item.page.get_by_label("Scenario")).to_have_value("late-joiner")
        is_calm(item)


def test_a_facet_that_no_table_has_is_not_offered(browser: Browser, sample: Path, tmp_path: Path) -> None:
    with opened(browser, sample) as item:
        assert [label.strip().split()[0] for label in item.page.locator("#filters label").all_inner_texts()] == [
            "Scenario", "Client", "RocketMQ", "From", "To"
        ]  # fmt: skip
    file = tmp_path / "empty.html"
    file.write_text(page(empty(), tmp_path), encoding="utf-8")
    with opened(browser, file) as item:
        assert not item.page.locator("#filters").is_visible()
        is_calm(item)


def test_on_paper_it_says_what_is_filtered(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as item:
        item.page.get_by_label("Client").select_option("grpc")
        item.page.emulate_media(media="print")
        assert item.page.get_by_text("Tables show: Client grpc.").is_visible()
        assert not item.page.get_by_label("Client").is_visible()


def test_a_page_stays_below_two_megabytes(sample: Path) -> None:
    assert sample.stat().st_size < MOST_BYTES


def test_a_page_without_figures_has_no_library(tmp_path: Path) -> None:
    assert len(page(empty(), tmp_path).encode()) < 40_000


def test_without_scripts_there_is_no_bar_that_does_nothing(browser: Browser, sample: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(sample.as_uri(), timeout=LIMIT_MS)
    assert not tab.locator("#filters").is_visible()
    context.close()
