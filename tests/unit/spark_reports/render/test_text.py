"""The short text, and the document for machines."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from rocketchaos.spark_reports.render.document import document_text
from rocketchaos.spark_reports.render.links import RunsUrl
from rocketchaos.spark_reports.render.text import markdown, show
from rocketchaos.spark_reports.report import Report
from rocketchaos.spark_reports.run_names import named_run
from tests.unit.spark_reports.render.samples import HOSTILE, empty, whole

PAGE = Path("reports/flakiness.html")
COLUMNS_WIDE = 100


def plain(report: Report, page: Path | None = None) -> str:
    """As a log has it: no terminal, and no colours."""
    file = io.StringIO()
    show(report, Console(file=file, width=COLUMNS_WIDE, color_system=None, force_terminal=False), page)
    return file.getvalue()


@pytest.mark.parametrize("form", [plain, markdown])
def test_a_short_text_says_what_matters_what_it_was_made_from_and_where_the_page_is(
    form: Callable[[Report, Path], str],
) -> None:
    text = form(whole(), PAGE).replace("\\", "")
    for said in (
        "1 of 20 cells is FLAKY: same-group-different-tags on java 5.3.3.",
        "- same-group-different-tags, java 5.3.3: FLAKY, 22 of 46 runs.",
        "Made from 1,234 runs, 567,890 messages, 4 scenarios, 3 hosts",
        "3 quarantined (same-group-different-tags: 2; truncated: 1)",
        "1 run with a clock jump",
        "All cells",
        "12 more rows, and all columns, in flakiness/cells.csv",
        "reports/flakiness.html",
    ):
        assert said in text, said
    assert len(text.splitlines()) < 40


def test_what_is_the_same_in_all_rows_is_left_out_of_the_short_table() -> None:
    text = plain(whole())
    assert "rocketmq" in text
    assert "cluster" not in text


def test_a_short_text_is_plain_where_there_is_no_terminal() -> None:
    text = plain(whole([HOSTILE, "b", "c", "d"]), PAGE)
    assert text.isprintable() or not [item for item in text if item != "\n" and not item.isprintable()]
    table = [line for line in text.splitlines() if line.startswith(("a-", "late", "same"))]
    assert max(map(len, table), default=0) <= COLUMNS_WIDE


def test_a_terminal_gets_colours_and_the_same_words() -> None:
    file = io.StringIO()
    show(whole(), Console(file=file, force_terminal=True, color_system="standard", width=100), PAGE)
    assert "\x1b[33mFLAKY" in file.getvalue()


def test_a_run_in_a_sentence_is_its_folder_or_a_link() -> None:
    source = "file:/runs/night_1/a [b]"
    report = dataclasses.replace(whole(), headline=f"see {named_run(source)}, now", lines=[named_run(None)])
    url = RunsUrl.of("https://ci/{parent}/{name}/")
    assert "see /runs/night_1/a [b], now" in plain(report)
    assert "**see /runs/night\\_1/a \\[b\\], now**" in markdown(report)
    assert "**see [a \\[b\\]](https://ci/night_1/a%20%5Bb%5D/report.html), now**" in markdown(report, url=url)
    assert json.loads(document_text(report))["headline"] == "see /runs/night_1/a [b], now"
    assert "unknown" in plain(report)


def test_markdown_of_strangers_is_text() -> None:
    name = "[x](https://example.org) | <b> @everybody `c`"
    text = markdown(whole([name, "b", "c", "d"]))
    assert "[x](" not in text.replace("\\[", "").replace("\\]", "")
    assert "@everybody" not in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.replace("\\|", "").count("|") for line in table}) == 1


@pytest.mark.parametrize("form", [plain, markdown])
def test_an_empty_store_has_a_short_text(form: Callable[[Report, Path], str]) -> None:
    text = form(empty(), PAGE)
    assert "The store has no runs." in text
    assert "0 quarantined" in text


def test_the_document_has_every_row_and_what_is_unknown_is_null() -> None:
    report = whole(count=300)
    document = json.loads(document_text(report))
    assert document["store"]["quarantined"] == 3
    table = next(part for part in document["sections"][0]["parts"] if part["kind"] == "table")
    assert len(table["rows"]) == 300
    assert table["columns"]["p_reproduce"] == "double"
    assert table["rows"][6]["p_reproduce"] is None
    assert table["rows"][0]["first"] == "2026-01-01T02:11:00+00:00"
    assert all(part["sql"] for section in document["sections"] for part in section["parts"])
