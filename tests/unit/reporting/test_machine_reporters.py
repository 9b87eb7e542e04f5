"""What programs read: the JSON document, JUnit XML, GitHub's commands."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.document import DocumentReporter
from rocketchaos.harness.reporting.github import GitHubReporter
from rocketchaos.harness.reporting.junit import JUnitReporter
from tests.unit.history_builder import eight_messages
from tests.unit.reporting.reports import HOSTILE, broken, good, healthy, report_of, troubled


def document_of(*runs: Report) -> dict[str, Any]:
    stream = io.TextIOWrapper(raw := io.BytesIO(), encoding="ascii")
    DocumentReporter(stream).report(runs)
    stream.flush()
    document: dict[str, Any] = json.loads(raw.getvalue())
    return document


def junit_of(file: Path, *runs: Report) -> ElementTree.Element:
    JUnitReporter(file).report(runs)
    return ElementTree.parse(file).getroot()


def github_of(environment: dict[str, str], *runs: Report) -> str:
    stream = io.StringIO()
    GitHubReporter(stream, environment).report(runs)
    return stream.getvalue()


def test_the_document_tells_a_run(tmp_path: Path) -> None:
    (run,) = document_of(good(tmp_path))["runs"]
    assert run["outcome"] == run["expected"] == "reproduced"
    assert run["as_expected"] is True
    assert run["holder"] == "b"
    assert run["messages"]["delivered"] == run["messages"]["filtered-by-client"] == 4
    assert run["run_dir"] == str(tmp_path)
    assert (run["rocketmq"], run["client"], run["timing"], run["seed"]) == ("4.9.4", "java", "compressed", 7)
    assert run["checks"][0]["passed"] is True
    assert run["checks"][0]["claim"] == "B01"
    assert run["checks"][3]["passed"] is False


def test_every_key_is_there_whatever_happened(tmp_path: Path) -> None:
    scenario, events = eight_messages()
    bare = Report(scenario, report_of(scenario, [], tmp_path).outcome, [], {}, tmp_path)
    runs = document_of(good(tmp_path), broken(tmp_path), bare, report_of(scenario, events[:3], tmp_path))[
        "runs"
    ]
    assert len({tuple(run) for run in runs}) == 1
    assert runs[2]["rocketmq"] is None
    assert runs[2]["holder"] is None


def test_the_summary_counts_and_has_the_gravest_exit_code(tmp_path: Path) -> None:
    summary = document_of(good(tmp_path), good(tmp_path, holder="a"), broken(tmp_path))["summary"]
    assert summary["outcomes"] == {"reproduced": 2, "not-reproduced": 0, "inconclusive": 0, "error": 1}
    assert summary["exit_code"] == 70
    (repeats,) = summary["repeats"]
    assert repeats["attempts"] == 3
    assert repeats["outcomes"][0]["interval_95"] == [pytest.approx(0.20766), pytest.approx(0.938508)]
    assert [(repeat["holder"], repeat["started"], repeat["count"]) for repeat in repeats["holders"]] == [
        ("b", "later", 2),
        ("a", "first", 1),
    ]


def test_no_runs_are_a_whole_document_too() -> None:
    document = document_of()
    assert document["runs"] == []
    assert document["summary"]["exit_code"] == 0


def test_junit_tells_failures_from_errors(tmp_path: Path) -> None:
    runs = (good(tmp_path), healthy(tmp_path), broken(tmp_path))
    root = junit_of(tmp_path / "deep" / "junit.xml", *runs)
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
        "skipped": "0",
    }
    passed, failed, erred = root.iter("testcase")
    assert passed.get("classname") == "subscription/same-group-different-tags"
    assert passed.find("failure") is None
    assert passed.get("time") == "5.100"
    failure, error = failed.find("failure"), erred.find("error")
    assert failure is not None
    assert failure.text is not None
    assert "anomaly: delivered to $others [B01]: does not hold" in failure.text
    assert failure.text.endswith(f"Reproduce: rocketchaos reproduce {tmp_path}")
    assert error is not None
    assert error.get("type") == "harness"
    properties = {item.get("name"): item.get("value") for item in passed.iter("property")}
    assert properties["seed"] == "7"
    assert properties["attempts"] == "1"
    assert properties["run_dir"] == str(tmp_path)


def test_junit_names_repeats_apart_and_keeps_the_first_name(tmp_path: Path) -> None:
    first, second = junit_of(tmp_path / "j.xml", good(tmp_path), good(tmp_path, seed=9)).iter("testcase")
    assert second.get("name") == f"{first.get('name')} (run 2)"


def test_junit_is_well_formed_with_any_text(tmp_path: Path) -> None:
    run = troubled(tmp_path, "harness", "a\x00b \x1b[31m <&> \ud800 ]]> \ufffe\n  hint\x07")
    (case,) = junit_of(tmp_path / "j.xml", run).iter("testcase")
    error = case.find("error")
    assert error is not None
    assert "\\x00" in str(error.text)
    assert "\\ud800" in str(error.text)


def test_junit_that_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentNotReady, match="can't be written"):
        JUnitReporter(tmp_path).report([good(tmp_path)])


def test_github_annotates_the_line_of_the_first_failing_check(tmp_path: Path) -> None:
    text = github_of({}, good(tmp_path), healthy(tmp_path))
    (line,) = text.splitlines()
    assert line.startswith(
        "::error file=scenarios/subscription/same.scenario.yaml,line=15,title=NOT REPRODUCED"
    )
    properties, _, message = line.removeprefix("::error ").partition("::")
    assert "Same group%2C different tags" in properties
    assert "NOT as expected%3A should be reproduced" in properties
    assert "%0AReproduce: rocketchaos reproduce" in message


def test_github_escapes_what_would_end_a_command(tmp_path: Path) -> None:
    run = troubled(tmp_path, "environment", "100%\r\n::set-output name=x::y")
    (line,) = github_of({}, run).splitlines()
    assert "100%25 ::set-output" in line
    assert line.index("::error") == 0


def test_github_paths_are_relative_to_the_workspace(tmp_path: Path) -> None:
    run = broken(tmp_path)
    moved = run.scenario.with_source(run.scenario.source, "/w/repo/s/x.scenario.yaml", {})
    elsewhere = Report(moved, run.outcome, run.events, run.record, run.folder)
    assert "file=s/x.scenario.yaml" in github_of({"GITHUB_WORKSPACE": "/w/repo"}, elsewhere)


def test_github_summary_is_appended_as_a_table(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    run = report_of(*eight_messages(tag_b=HOSTILE), tmp_path)
    github_of({"GITHUB_STEP_SUMMARY": str(summary)}, run, good(tmp_path), good(tmp_path))
    text = summary.read_text()
    assert text.startswith("before\n### rocketchaos: 3 runs, 3 as expected")
    assert "| 4 delivered, 4 filtered by the client |" in text
    assert "3 runs: reproduced 3 of 3, 100 %" in text
    assert "\x1b" not in text
