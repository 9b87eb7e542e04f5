"""The page about the methods: it is current, every part of a report leads to an entry, and it needs no network."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rocketchaos.spark_reports.diff.tables import cells_table as changed_cells
from rocketchaos.spark_reports.flakiness.tables import cells_table
from rocketchaos.spark_reports.method_pictures import pictures
from rocketchaos.spark_reports.methods import METHODS
from rocketchaos.spark_reports.render.methods_page import html, kept_pictures, markdown

ROOT = Path(__file__).parents[4]


def test_the_page_of_the_documentation_is_current() -> None:
    assert markdown() + "\n" == (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")


def test_the_kept_pictures_are_those_that_are_drawn() -> None:
    """Apart from numbers: another version of NumPy may draw others."""
    drawn = pictures()
    assert list(kept_pictures()) == list(drawn)
    for method, (svg, words) in kept_pictures().items():
        now, words_now = drawn[method]
        assert _without_numbers(words) == _without_numbers(words_now)
        assert _label(svg) == _label(now)


def _label(svg: str) -> str | None:
    return ElementTree.fromstring(svg).get("aria-label")


def _without_numbers(text: str) -> str:
    return re.sub(r"[-\d.]+", "", text)


def test_it_needs_no_network_and_runs_nothing() -> None:
    text = html()
    assert "<script" not in text
    assert re.findall(r'(?:src|href)="(?!#)', text) == []


def test_every_method_has_an_entry_and_every_picture_a_method() -> None:
    anchors = re.findall(r'<section id="([\w-]+)"', html())
    assert anchors == list(METHODS)
    assert set(kept_pictures()) <= set(METHODS)


@pytest.mark.parametrize("table", [cells_table([]), changed_cells([])], ids=["flakiness", "diff"])
def test_the_methods_of_a_table_are_known(table: object) -> None:
    methods = getattr(table, "methods", ())
    assert methods
    assert set(methods) <= set(METHODS)
