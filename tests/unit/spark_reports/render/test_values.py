"""Values as people read them, and links to run folders."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import quote

import pytest

from rocketchaos.spark_reports.places import Place
from rocketchaos.spark_reports.render.links import link
from rocketchaos.spark_reports.render.values import words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        ("", "–"),
        (float("nan"), "–"),
        (True, "yes"),
        (False, "no"),
        (1234567, "1,234,567"),
        (0.0, "0"),
        (1.0, "1"),
        (0.5655, "0.566"),
        (0.0876, "0.0876"),
        (0.99996, "0.99996"),
        (0.00001234, "1.23e-05"),
        (12345.6, "12,346"),
        (float("inf"), "∞"),
        (-2.5, "-2.5"),
        (datetime(2026, 3, 1, 2, 11), "2026-03-01 02:11"),
        (datetime(2026, 3, 1, 2, 11, tzinfo=timezone(timedelta(hours=2))), "2026-03-01 00:11"),
        (datetime(2026, 3, 1, 2, 11, tzinfo=UTC), "2026-03-01 02:11"),
        (["a", None, 2], "a, –, 2"),
        ({"a": 1}, "a 1"),
        ("x\x1b[31m", "x\\x1b[31m"),
    ],
)
def test_values_in_words(value: object, text: str) -> None:
    assert words(value) == text


def test_a_run_is_linked_relatively_where_it_can_move_with_the_page(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "x"
    run.mkdir(parents=True)
    assert link(str(run), tmp_path / "out") == "../runs/x"
    assert link(run.as_uri(), run.parent) == "./x"


@pytest.mark.parametrize("name", ["100%20 a", "50%", "#1", "what?", "[1]{a}", "ä +"])
def test_a_run_is_linked_by_what_the_store_has_whatever_its_folder_is_called(
    tmp_path: Path, name: str
) -> None:
    run = tmp_path / name
    run.mkdir()
    stored = Place.of(str(run)).uri
    assert link(stored, tmp_path / "out") == f"../{quote(name)}"
    assert link(stored, Path("/elsewhere")) == run.as_uri() == link(run.as_uri(), Path("/elsewhere"))


def test_a_run_far_away_is_linked_by_its_uri(tmp_path: Path) -> None:
    run = tmp_path / "ä x"
    run.mkdir()
    assert link(str(run), Path("/elsewhere")) == run.as_uri()


@pytest.mark.parametrize(
    "text",
    [
        "s3a://bucket/run",
        "hdfs://host/run",
        "https://example.org/",
        "javascript:alert(1)",
        "file://other-host/run",
        "file:relative",
        "/not/there",
        "/\0",
        "file:///%00",
        "http://[broken",
        "same-group-different-tags",
    ],
)
def test_what_is_no_folder_of_this_machine_is_no_link(tmp_path: Path, text: str) -> None:
    assert link(text, tmp_path) is None
