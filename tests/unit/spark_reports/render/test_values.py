"""Values as people read them, and links to run folders."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import quote

import pytest

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.spark_reports.places import Place
from rocketchaos.spark_reports.render.anchors import anchor
from rocketchaos.spark_reports.render.links import PAGE, RunLinks, RunsUrl, run_text
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


def page_of(source: str, folder: Path) -> str | None:
    found = RunLinks(folder).to(source)
    return found and found.page


def test_a_run_is_linked_relatively_where_it_can_move_with_the_page(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "x"
    run.mkdir(parents=True)
    assert page_of(str(run), tmp_path / "out") == "../runs/x"
    (run / PAGE).touch()
    found = RunLinks(tmp_path / "out").to(str(run))
    assert found is not None
    assert (found.page, found.folder) == ("../runs/x/report.html", "../runs/x")
    assert (found.name, found.reproduce) == ("x", f"rocketchaos reproduce {run}")
    (run / PAGE).unlink()
    assert page_of(run.as_uri(), run.parent) == "./x"


@pytest.mark.parametrize("name", ["100%20 a", "50%", "#1", "what?", "[1]{a}", "ä +"])
def test_a_run_is_linked_by_what_the_store_has_whatever_its_folder_is_called(
    tmp_path: Path, name: str
) -> None:
    run = tmp_path / name
    run.mkdir()
    stored = Place.of(str(run)).uri
    assert page_of(stored, tmp_path / "out") == f"../{quote(name)}"
    far = Path("/elsewhere")
    assert page_of(stored, far) == run.as_uri() == page_of(run.as_uri(), far)


def test_a_run_far_away_is_linked_by_its_uri(tmp_path: Path) -> None:
    run = tmp_path / "ä x"
    run.mkdir()
    assert page_of(str(run), Path("/elsewhere")) == run.as_uri()


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
    assert RunLinks(tmp_path).to(text) is None


@pytest.mark.parametrize(
    ("template", "source", "page", "folder"),
    [
        ("https://ci/{name}", "file:/a/night 1/x", "https://ci/x/report.html", "https://ci/x/"),
        ("https://ci/{parent}/{name}/", "file:/a/night 1/x", "https://ci/night%201/x/report.html", None),
        (
            "https://ci/{path}/",
            "s3a://bucket/night/x",
            "https://ci/night/x/report.html",
            "https://ci/night/x/",
        ),
        ("http://ci/?run={name}&f={file}", "/a/b/x&y", "http://ci/?run=x%26y&f=report.html", None),
        (
            "https://ci/{name}",
            "javascript:alert(1)",
            "https://ci/javascript%3Aalert%281%29/report.html",
            None,
        ),
    ],
)
def test_a_template_says_where_runs_are(
    tmp_path: Path, template: str, source: str, page: str, folder: str | None
) -> None:
    url = RunsUrl.of(template)
    found = RunLinks(tmp_path, url).to(source)
    assert found is not None
    assert found.page == page == run_text(source, url)
    assert folder in (None, found.folder)
    # It is not on this machine: whoever has fetched it has it under its name.
    assert found.reproduce.startswith("rocketchaos reproduce ")
    assert "/a/" not in found.reproduce


@pytest.mark.parametrize(
    ("template", "wrong"),
    [
        ("javascript:{name}", "no address"),
        ("ci.example.org/{name}", "no address"),
        ("https://ci/runs/", "the same for every run"),
        ("https://ci/{parent}/", "the same for every run"),
        ("https://ci/{name}/{run}", "it has {run}"),
    ],
)
def test_a_template_that_can_not_be_is_refused(template: str, wrong: str) -> None:
    with pytest.raises(UsageProblem, match=wrong):
        RunsUrl.of(template)


def test_an_anchor_is_made_of_what_its_row_is_about_alone() -> None:
    # Frozen: links that people have sent each other lead here.
    assert anchor("cell", ("tags", "java", "5.5.0", "embedded", "compressed")) == "cell-d834786689"
    assert anchor("cell", ("a", None)) != anchor("cell", ("a", "")) != anchor("cell", ("a",))
