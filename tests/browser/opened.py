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
    one = Opened(context.new_page())
    one.page.on("console", lambda message: one.troubles.append(message.text))
    one.page.on("pageerror", lambda error: one.troubles.append(str(error)))
    one.page.on("dialog", lambda dialog: one.troubles.append(dialog.message))
    one.page.on("request", lambda request: one.requests.append(request.url))
    one.page.goto(file.as_uri(), timeout=LIMIT_MS)
    one.page.locator("html[data-drawn]").wait_for(state="attached")
    try:
        yield one
    finally:
        context.close()


def is_calm(one: Opened) -> None:
    """No errors, nothing loaded but the page, and no part of it wider than the window."""
    assert not one.troubles, one.troubles
    assert [url for url in one.requests if not url.startswith(("data:", "blob:"))] == [one.page.url]
    wide, window = one.page.evaluate(WIDTHS)
    assert wide <= window


def drawn(one: Opened, report: Report) -> list[dict[str, Any]]:
    """What is drawn: every figure of the report, whole, with marks in it."""
    found: list[dict[str, Any]] = one.page.evaluate(DRAWN)
    assert [plot["name"] for plot in found] == [f"{report.name}-{figure.name}" for figure in report.figures]
    for plot in found:
        assert plot["width"] >= 250, plot
        assert plot["height"] >= 150, plot
        assert plot["marks"] >= 5, plot
        assert plot["cut"] == 0, plot
    return found
