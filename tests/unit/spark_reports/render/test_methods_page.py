"""The page about the methods: it is current, every part of a report leads to an entry, and it needs no network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rocketchaos.spark_reports.diff.tables import cells_table as changed_cells
from rocketchaos.spark_reports.flakiness.tables import cells_table
from rocketchaos.spark_reports.method_pictures import pictures
from rocketchaos.spark_reports.methods import METHODS
from rocketchaos.spark_reports.render.methods_page import html, markdown
from rocketchaos.spark_reports.render.page import template

ROOT = Path(__file__).parents[4]


def _without_pictures(text: str) -> str:
    """Another version of NumPy may draw otherwise."""
    return re.sub(r"<svg.*?</svg>|Simulated: .*?(?=[<*\n])", "", text)


@pytest.mark.parametrize("which", ["html", "markdown"])
def test_it_is_current(which: str) -> None:
    made, kept = (
        (html(), template("methods.html"))
        if which == "html"
        else (markdown(), (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8"))
    )
    assert _without_pictures(made) == _without_pictures(kept), (
        f"python -m rocketchaos.spark_reports.render.methods_page {which} makes it again"
    )


def test_it_needs_no_network_and_runs_nothing() -> None:
    text = template("methods.html")
    assert "<script" not in text
    assert re.findall(r'(?:src|href)="(?!#)', text) == []


def test_every_method_has_an_entry_and_every_picture_a_method() -> None:
    anchors = re.findall(r'<section id="([\w-]+)"', template("methods.html"))
    assert anchors == list(METHODS)
    assert set(pictures()) <= set(METHODS)


@pytest.mark.parametrize("table", [cells_table([]), changed_cells([])], ids=["flakiness", "diff"])
def test_the_methods_of_a_table_are_known(table: object) -> None:
    methods = getattr(table, "methods", ())
    assert methods
    assert set(methods) <= set(METHODS)
