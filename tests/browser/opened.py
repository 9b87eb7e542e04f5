"""A page that is open, what it did, and what is seen of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from rocketchaos.spark_reports.report import Report
from tests.browser.chromium import LIMIT_MS

WIDTHS = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
DRAWN = """[...document.querySelectorAll("[data-figure]")].map((plot) => {
  const svg = plot.querySelector("svg.main-svg");
  const box = svg?.getBoundingClientRect();
  return { name: plot.dataset.name, width: box?.width ?? 0, height: box?.height ?? 0,
           marks: plot.querySelectorAll(".plot path, .plot image, .plot text").length,
           cut: [...plot.querySelectorAll(".annotation")].filter(
             (title) => title.getBoundingClientRect().top < box.top - 1).length };
})"""


@dataclass
class Opened:
    """A page, and what it did."""

    page: Page
    troubles: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def opened(
    browser: Browser, file: Path, width: int = 1280, height: int = 900, **more: Any
) -> Iterator[Opened]:
    """The page in a window of this size, once all its figures are drawn."""
    context = browser.new_context(viewport={"width": width, "height": height}, **more)
    context.set_default_timeout(LIMIT_MS)
    item = Opened(context.new_page())
    item.page.on("console", lambda message: item.troubles.append(message.text))
    item.page.on("pageerror", lambda error: item.troubles.append(str(error)))
    item.page.on("dialog", lambda dialog: item.troubles.append(dialog.message))
    item.page.on("request", lambda request: item.requests.append(request.url))
    item.page.goto(file.as_uri(), timeout=LIMIT_MS)
    item.page.locator("html[data-drawn]").wait_for(state="attached")
    try:
        yield item
    finally:
        context.close()


def is_calm(item: Opened) -> None:
    """No errors, nothing loaded but the page, and no part of it wider than the window."""
    assert not item.troubles, item.troubles
    file = item.page.url.partition("#")[0]
    assert [url for url in item.requests if not url.startswith(("data:", "blob:"))] == [file]
    wide, window = item.page.evaluate(WIDTHS)
    assert wide <= window


def drawn(item: Opened, report: Report) -> list[dict[str, Any]]:
    """What is drawn: every figure of the report, whole, with marks in it."""
    found: list[dict[str, Any]] = item.page.evaluate(DRAWN)
    assert [plot["name"] for plot in found] == [f"{report.name}-{figure.name}" for figure in report.figures]
    for plot in found:
        assert plot["width"] >= 250, plot
        assert plot["height"] >= 150, plot
        assert plot["marks"] >= 5, plot
        assert plot["cut"] == 0, plot
    return found
