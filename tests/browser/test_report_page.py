"""The page of a report in a real browser: at a desk, on a phone, in the dark, and on paper."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from rocketchaos.spark_reports.render.page import page
from rocketchaos.spark_reports.report import Report
from tests.browser.chromium import LIMIT_MS
from tests.browser.opened import Opened, drawn, is_calm, opened
from tests.unit.spark_reports.render.samples import HOSTILE, SQL, empty, whole

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

PAPER = {"width": 703, "height": 1024}
"""A4 within the margins of the page, in CSS pixels."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Report, str], Path]:
    folder = tmp_path_factory.mktemp("pages")

    def write(report: Report, name: str) -> Path:
        path = folder / f"{name}.html"
        path.write_text(page(report, folder), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="module")
def sample(written: Callable[[Report, str], Path]) -> Path:
    return written(whole(count=500), "sample")


def all_drawn(item: Opened) -> list[dict[str, Any]]:
    return drawn(item, whole())


def test_at_a_desk_all_is_drawn_and_nothing_is_loaded(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as item:
        all_drawn(item)
        is_calm(item)
        assert item.page.locator("#store").get_by_text("quarantined", exact=True).is_visible()


@pytest.mark.parametrize("width", [360, 800])
def test_on_a_phone_the_page_is_as_wide_as_the_window(browser: Browser, sample: Path, width: int) -> None:
    with opened(browser, sample, width=width, height=740, has_touch=True, is_mobile=width < 400) as item:
        plots = all_drawn(item)
        is_calm(item)
        boxes = item.page.locator(".plot-box")
        for n, plot in enumerate(plots):
            # What is wider than the window scrolls within its own box.
            box = boxes.nth(n).bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert (
                plot["width"] <= box["width"]
                or item.page.evaluate(
                    "n => getComputedStyle(document.querySelectorAll('.plot-box')[n]).overflowX", n
                )
                == "auto"
            )


def test_figures_follow_the_window(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as item:
        item.page.set_viewport_size({"width": 400, "height": 740})
        figure = item.page.locator("#figure-trend svg.main-svg").first
        expect(figure).to_have_attribute("width", re.compile(r"3\d\d"), timeout=LIMIT_MS)
        is_calm(item)


def test_a_long_table_can_be_narrowed_and_sorted(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as item:
        table = item.page.locator("#table-cells-table")
        item.page.get_by_label("Filter", exact=True).fill("late-joiner GRPC")
        rows = table.locator("tbody tr:visible")
        assert rows.count() == 25
        assert item.page.get_by_text("25 shown").is_visible()
        column = 5
        head = table.locator("thead th").nth(column)
        shown = "rows => [...rows].filter(row => !row.hidden).map(row => row.cells[5].textContent.trim())"
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "ascending"
        rising = table.locator("tbody tr").evaluate_all(shown)
        known = [float(text) for text in rising if text != "–"]
        assert known == sorted(known)
        head.locator("button").click()
        falling = [float(text) for text in table.locator("tbody tr").evaluate_all(shown) if text != "–"]
        assert falling == known[::-1]
        # Unknown is neither much nor little.
        assert rising[len(known) :] == ["–"] * (len(rising) - len(known))
        # The names of columns stay in sight.
        table.locator("tbody tr:visible").last.scroll_into_view_if_needed()
        name, box = head.bounding_box(), item.page.locator("#table-cells .scroll").bounding_box()
        assert name is not None
        assert box is not None
        assert abs(name["y"] - box["y"]) <= 2
        is_calm(item)


def test_the_sql_is_folded_and_can_be_copied(browser: Browser, sample: Path) -> None:
    with opened(browser, sample, permissions=["clipboard-read", "clipboard-write"]) as item:
        part = item.page.locator("#figure-fates")
        assert not part.locator("pre").is_visible()
        part.locator("summary").click()
        assert part.locator("pre").inner_text().strip() == SQL
        part.get_by_role("button", name="Copy").click()
        part.get_by_role("button", name=re.compile("Copied|Marked")).wait_for()
        marked = "getSelection().toString() || navigator.clipboard.readText()"
        assert item.page.evaluate(marked).replace("\r\n", "\n") == SQL
        is_calm(item)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_of_figures_can_be_read_by_day_and_by_night(
    browser: Browser, sample: Path, scheme: str
) -> None:
    with opened(browser, sample, color_scheme=scheme) as item:
        text, card, tick = item.page.evaluate(
            """[getComputedStyle(document.body).color,
                getComputedStyle(document.querySelector("section")).backgroundColor,
                getComputedStyle(document.querySelector("#figure-intervals .ytick text")).fill]"""
        )
        assert tick == text
        assert _contrast(text, card) > 7


def _contrast(text: str, other: str) -> float:
    """As WCAG 2 defines it."""
    dark, light = sorted(map(_luminance, (text, other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(number) / 255 for number in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_on_paper_figures_are_whole_and_tables_are_not_endless(
    browser: Browser, sample: Path, tmp_path: Path
) -> None:
    with opened(browser, sample, color_scheme="dark") as item:
        before = all_drawn(item)
        pdf = item.page.pdf(path=tmp_path / "page.pdf", format="A4")
        assert 6 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 16
        assert all_drawn(item) == before
        item.page.emulate_media(media="print")
        item.page.set_viewport_size(PAPER)
        item.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        for plot in all_drawn(item):
            assert plot["width"] <= PAPER["width"], plot
            assert plot["height"] <= PAPER["height"], plot
        is_calm(item)
        assert item.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert not item.page.locator("nav").is_visible()
        assert item.page.get_by_text("The first 60 of 500 rows").is_visible()
        item.page.evaluate("dispatchEvent(new Event('afterprint'))")
        item.page.emulate_media(media="screen")


def test_strangers_text_acts_nowhere(browser: Browser, written: Callable[[Report, str], Path]) -> None:
    with opened(browser, written(whole([HOSTILE, "b", "c", "d"]), "hostile")) as item:
        all_drawn(item)
        is_calm(item)
        assert item.page.title().startswith("Which results can be trusted: </script>")
        assert item.page.locator("[href*='example.org'], img").count() == 0
        # Figures show it as it is written.
        assert "<a href='https://example.org/'>" in item.page.locator("#figure-verdicts").inner_text()


def test_a_broken_figure_leaves_the_others(browser: Browser, written: Callable[[Report, str], Path]) -> None:
    file = written(whole(), "broken")
    text = file.read_text(encoding="utf-8")
    file.write_text(
        text.replace('id="figure-shares-data">{', 'id="figure-shares-data">', 1), encoding="utf-8"
    )
    with opened(browser, file) as item:
        assert item.page.get_by_text("This figure could not be drawn.").is_visible()
        assert item.page.locator("svg.main-svg").count() >= 6
        assert len(item.troubles) == 1


def test_without_scripts_the_tables_are_there(browser: Browser, sample: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(sample.as_uri(), timeout=LIMIT_MS)
    assert tab.locator("#table-cells-table tbody tr").count() == 500
    context.close()


def test_the_page_of_an_empty_store_is_calm(browser: Browser, written: Callable[[Report, str], Path]) -> None:
    with opened(browser, written(empty(), "empty"), width=360, height=740) as item:
        is_calm(item)
        assert item.page.get_by_text("there is nothing to report yet").is_visible()
