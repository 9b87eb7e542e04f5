"""How reporters tell a matrix: hand-made runs in cells of their own."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

from rocketchaos.assertions.judge import judge
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.plan.matrix import LeftOut
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.console import ConsoleReporter
from rocketchaos.harness.reporting.document import DocumentReporter
from rocketchaos.harness.reporting.github import GitHubReporter, matrix_table
from rocketchaos.harness.reporting.html import page
from rocketchaos.harness.reporting.junit import JUnitReporter
from rocketchaos.harness.reporting.parts.cells import (
    cell_text,
    cells,
    delivered,
    delivered_text,
    judgement,
    outcome_text,
)
from rocketchaos.harness.reporting.parts.shares import repeats
from rocketchaos.harness.reporting.start_here import start_here
from tests.benchmarks.divergence_table import divergence_table
from tests.unit.history_builder import eight_messages
from tests.unit.reporting.reports import good, healthy, report_of, troubled

GRPC = LeftOut(
    "same-group-different-tags",
    "grpc",
    "4.9.4",
    "same-group-different-tags can't have grpc for a: it needs the proxy of RocketMQ 5, which 4.9.4 lacks",
)
GONE = LeftOut(
    "same-group-different-tags",
    "java",
    "4.9.99",
    "there is no RocketMQ 4.9.99 in Maven Central: rocketmq-broker is missing. The nearest versions: 4.9.7.",
    ExitCode.USAGE,
)
HOST = {"processors": 2, "memory_mib": 24000}


def in_cell(report: Report, client: str, rocketmq: str, **record: Any) -> Report:
    """The same run, in a cell of a matrix."""
    cell = {"cell": {"client": client, "rocketmq": rocketmq}, "client": client, "rocketmq": rocketmq}
    first = report.events[0]
    events = [replace(first, data={**first.data, "client": client, "rocketmq": rocketmq}), *report.events[1:]]
    known = {**report.record, **cell, "host": HOST, "ended": "2026-11-21T10:00:00.000+00:00", **record}
    return Report(report.scenario, judge(report.scenario, events), events, known, report.folder)


@pytest.fixture
def runs(tmp_path: Path) -> list[Report]:
    """Three cells: java as expected, python measured, java elsewhere not as expected."""
    return [
        in_cell(good(tmp_path / "1"), "java", "4.9.4"),
        in_cell(healthy(tmp_path / "2"), "python", "4.9.4"),
        in_cell(healthy(tmp_path / "3"), "java@4.9.4", "5.5.0"),
    ]


def printed(runs: list[Report], left_out: list[LeftOut], encoding: str = "utf-8", width: int = 80) -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=stream, width=width, force_terminal=False, soft_wrap=True)
    ConsoleReporter(console, left_out).report(runs)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


def test_a_table_with_a_line_a_cell(runs: list[Report]) -> None:
    lines = printed(runs, [GRPC], width=120).splitlines()
    table = lines[lines.index("same-group-different-tags") + 1 :]
    assert [" ".join(line.split()) for line in table[:4]] == [
        "client RocketMQ outcome expected? delivered stored took",
        "java 4.9.4 reproduced as expected a 0, b 4 tagB 5.1 s",
        "python 4.9.4 not-reproduced measured a 4, b 4 tagB 5.1 s",
        "java@4.9.4 5.5.0 not-reproduced NOT expected a 4, b 4 tagB 5.1 s",
    ]
    assert "Left out" in lines
    assert "3 runs: 1 as expected, 1 not, 1 measured  2 not-reproduced, 1 reproduced" in lines


def test_what_is_not_as_expected_is_shown_in_full_and_what_is_measured_is_not(runs: list[Report]) -> None:
    text = printed(runs, [])
    assert text.count("not-reproduced: same-group-different-tags") == 1
    assert str(runs[2].folder) in text
    assert str(runs[1].folder) not in text
    assert "Left out" not in text


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_it_is_readable_in_80_columns(runs: list[Report], encoding: str) -> None:
    text = printed(runs, [GRPC], encoding)
    pasted = ("  read", "  reproduce")
    assert [line for line in text.splitlines() if len(line) > 80 and not line.startswith(pasted)] == []
    for word in ("java@4.9.4", "not-reproduced", "measured", "4.9.4", "5.5.0"):
        assert word in text


def test_one_cell_has_its_verdict_and_its_line(runs: list[Report]) -> None:
    text = printed(runs[:1], [GRPC])
    assert text.startswith("REPRODUCED")
    assert "Left out" in text


def test_repeats_are_distributions_of_their_cell(tmp_path: Path) -> None:
    own = [in_cell(good(tmp_path / str(n), holder), "java", "4.9.4") for n, holder in enumerate("bba")]
    other = [in_cell(healthy(tmp_path / f"o{n}"), "python", "4.9.4") for n in range(2)]
    found = cells([*own, *other])
    assert [(cell.client, len(cell.runs)) for cell in found] == [("java", 3), ("python", 2)]
    assert outcome_text(found[0]) == "3 reproduced"
    assert delivered_text(found[0]) == "a 0, b 4 (2 of 3); a 4, b 0 (1 of 3)"
    assert judgement(found[1]) == "measured"
    assert [group.conditions[:2] for group in repeats([*own, *other])] == [
        ("4.9.4", "java"),
        ("4.9.4", "python"),
    ]
    text = printed([*own, *other], [], width=120)
    assert "3 of 3, 100 % (95 % interval 44 to 100 %)" in text


def test_runs_that_ended_alike_are_reported_in_full_once(tmp_path: Path) -> None:
    own = [in_cell(healthy(tmp_path / f"run-{n}"), "java", "4.9.4") for n in range(3)]
    other = in_cell(healthy(tmp_path / "other"), "java", "5.5.0")
    text = printed([*own, other], [], width=120)
    assert text.count("not-reproduced: same-group-different-tags") == 2
    assert "2 runs more ended so, for the same reason: run-1, run-2" in text


def test_java_in_two_versions_is_two_cells(tmp_path: Path) -> None:
    own = [in_cell(good(tmp_path / version), f"java@{version}", "5.5.0") for version in ("4.9.4", "5.3.3")]
    assert len(cells(own)) == 2
    assert repeats(own) == []


def test_a_cell_in_words(runs: list[Report], tmp_path: Path) -> None:
    assert cell_text(runs[2]) == "java@4.9.4 on RocketMQ 5.5.0"
    assert cell_text(report_of(*eight_messages(), tmp_path, cell=None, client="java", rocketmq="4.9.4")) == (
        "java on RocketMQ 4.9.4"
    )
    assert dict(delivered(runs[0])) == {"a": 0, "b": 4}


def document(runs: list[Report], matrix: list[LeftOut] | None) -> dict[str, Any]:
    stream = io.StringIO()
    DocumentReporter(stream, matrix or (), matrix=matrix is not None).report(runs)
    found: dict[str, Any] = json.loads(stream.getvalue())
    return found


def test_the_document_has_it_all(runs: list[Report]) -> None:
    found = document(runs, [GRPC])
    assert [run["cell"] for run in found["runs"]] == [
        {"client": "java", "rocketmq": "4.9.4"},
        {"client": "python", "rocketmq": "4.9.4"},
        {"client": "java@4.9.4", "rocketmq": "5.5.0"},
    ]
    assert [(run["expected"], run["as_expected"]) for run in found["runs"]] == [
        ("reproduced", True),
        (None, None),
        ("reproduced", False),
    ]
    assert found["summary"]["measured"] == 1
    assert found["summary"]["exit_code"] == int(ExitCode.NOT_AS_EXPECTED)
    java, python, elsewhere, left_out = found["matrix"]
    assert {frozenset(item) for item in found["matrix"]} == {frozenset(java)}, "every key is always there"
    assert java["delivered"]["b"][0]["messages"] == 4
    assert java["deliveries"][0]["delivered"] == {"a": 0, "b": 4}
    assert java["subscription"][0]["stored"] == "tagB"
    assert (python["expected"], python["measured"], python["seconds"]) == (None, 1, 5.1)
    assert elsewhere["outcomes"][0] == {
        "outcome": "not-reproduced",
        "count": 1,
        "total": 1,
        "share": 1.0,
        "interval_95": [0.206549, 1.0],
    }
    assert (left_out["runs"], left_out["client"], left_out["left_out"]) == (0, "grpc", GRPC.reason)
    assert document(runs, None)["matrix"] is None


def test_an_error_in_a_cell_of_which_nothing_is_expected_is_an_error(tmp_path: Path) -> None:
    run = in_cell(troubled(tmp_path, "environment", "no library for this machine"), "python", "4.9.4")
    found = document([run], [])
    assert (found["runs"][0]["outcome"], found["runs"][0]["as_expected"]) == ("error", None)
    assert found["summary"]["exit_code"] == int(ExitCode.ENVIRONMENT)
    text = printed([run], [])
    assert "nothing sent" in text
    assert "NOT measured" in text


def test_a_cell_without_consumers_says_so_whatever_was_sent(tmp_path: Path) -> None:
    run = in_cell(good(tmp_path), "java", "4.9.4")
    alone = replace(run, scenario=run.scenario.model_copy(update={"consumers": {}}))
    (cell,) = cells([alone])
    assert delivered_text(cell) == "no consumer"
    (usual,) = cells([run])
    assert delivered_text(usual).startswith("a ")


def test_a_measured_cell_that_shows_neither_says_why(tmp_path: Path) -> None:
    run = in_cell(troubled(tmp_path, "precondition", "ownership of g was not settled"), "python", "5.5.0")
    assert (run.exit_code, run.outcome.measured) == (ExitCode.INCONCLUSIVE, True)
    text = printed([run, run], [], width=120)
    assert "  python on RocketMQ 5.5.0: inconclusive (2 of 2): ownership of g was not settled" in text


def test_junit_names_are_unique_by_cell(runs: list[Report], tmp_path: Path) -> None:
    file = tmp_path / "junit.xml"
    JUnitReporter(file, cells=True).report(runs)
    cases = list(ElementTree.parse(file).iter("testcase"))
    names = [str(case.get("name")) for case in cases]
    assert len(set(names)) == 3
    assert names[1].endswith("[python on RocketMQ 4.9.4]")
    assert [[child.tag for child in case if child.tag != "properties"] for case in cases] == [
        [],
        [],
        ["failure"],
    ]
    expected = [item.get("value") for item in cases[1].iter("property") if item.get("name") == "expected"]
    assert expected == ["measured, not judged"]


def test_github_has_the_cells_and_annotates_what_is_wrong_alone(runs: list[Report], tmp_path: Path) -> None:
    stream, summary = io.StringIO(), tmp_path / "summary.md"
    GitHubReporter(stream, {"GITHUB_STEP_SUMMARY": str(summary)}, [GRPC], matrix=True).report(runs)
    assert stream.getvalue().count("::error ") == 1
    text = summary.read_text("utf-8")
    assert "1 as expected, 1 not, 1 measured" in text
    assert "(python on RocketMQ 4.9.4)" in text
    assert "| `same-group-different-tags` | java | 4.9.4 | **reproduced** | as expected |" in text
    assert "- left out: grpc on RocketMQ 4.9.4" in text


def test_a_version_that_can_t_be_had_is_named_everywhere_and_changes_the_code(
    runs: list[Report], tmp_path: Path
) -> None:
    good_ones = runs[:2]
    found = document(good_ones, [GRPC, GONE])
    assert found["left_out"] == [GRPC.reason, GONE.reason]
    assert [(item["rocketmq"], item["left_out"]) for item in found["matrix"] if item["left_out"]] == [
        ("4.9.4", GRPC.reason),
        ("4.9.99", GONE.reason),
    ]
    assert found["summary"]["exit_code"] == int(ExitCode.USAGE)
    assert document(good_ones, [GRPC])["summary"]["exit_code"] == int(ExitCode.AS_EXPECTED)
    assert f"java on RocketMQ 4.9.99: {GONE.reason}" in printed(good_ones, [GRPC, GONE], width=200)

    JUnitReporter(tmp_path / "junit.xml", [GRPC, GONE], cells=True).report(good_ones)
    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "0", "1", "1"]
    skipped, error = list(root.iter("testcase"))[2:]
    assert [(item.tag, item.get("message")) for item in (*skipped, *error)] == [
        ("skipped", GRPC.reason),
        ("error", GONE.reason),
    ]
    assert error.get("name") == "same-group-different-tags [java on RocketMQ 4.9.99]"

    stream, summary = io.StringIO(), tmp_path / "summary.md"
    environment = {"GITHUB_STEP_SUMMARY": str(summary)}
    GitHubReporter(stream, environment, [GRPC, GONE], matrix=True).report(good_ones)
    assert stream.getvalue().count("::error ") == 1
    assert "java on RocketMQ 4.9.99: there is no RocketMQ 4.9.99" in stream.getvalue()
    assert "- left out: java on RocketMQ 4.9.99" in summary.read_text("utf-8")


def test_the_run_s_own_reports_say_measured(runs: list[Report]) -> None:
    measured = runs[1]
    assert "**measured**" in start_here(measured)
    assert "Why:" not in start_here(measured)
    assert "<span>measured</span>" in page(measured)
    assert 'class="trouble"' not in page(measured)
    assert 'class="trouble"' in page(runs[2])


def test_the_markdown_table_names_a_scenario_once(runs: list[Report]) -> None:
    lines = matrix_table(cells(runs)).splitlines()
    assert lines[2] == (
        "| `same-group-different-tags` | java | 4.9.4 | **reproduced** | as expected | a 0, b 4 | tagB | 5.1 s |"
    )
    assert lines[3].startswith("|  | python | 4.9.4 | **not-reproduced** | measured |")


def test_where_clients_and_versions_differ(runs: list[Report], tmp_path: Path) -> None:
    alike = [
        replace(run, scenario=run.scenario.model_copy(update={"name": "all-alike"}))
        for run in (runs[0], in_cell(good(tmp_path / "4"), "java", "5.5.0"))
    ]
    more = in_cell(good(tmp_path / "5", "a"), "java", "4.9.4", ended="2026-11-22T10:00:00.000+00:00")
    assert divergence_table([*runs, more, *alike]) == (
        "2026-11-21 to 2026-11-22, 6 runs, 2 cores, 23 GiB, timing compressed:\n"
        "\n"
        "| scenario | client | RocketMQ 4.9.4 | RocketMQ 5.5.0 |\n"
        "|---|---|---|---|\n"
        "| `same-group-different-tags` | java | **reproduced** 2 of 2 (34 to 100 %): "
        "4 delivered, 4 filtered by the client | – |\n"
        "|  | python | **not-reproduced**: 8 delivered | – |\n"
        "|  | java@4.9.4 | – | **not-reproduced**: 8 delivered |\n"
        "\n"
        "All clients on all versions ended alike in `all-alike` (reproduced)."
    )


def test_versions_with_the_same_text_share_a_column(tmp_path: Path) -> None:
    runs = [in_cell(good(tmp_path / version), "java", version) for version in ("4.9.3", "4.9.4", "5.5.0")]
    other = in_cell(healthy(tmp_path / "other"), "python", "5.5.0")
    head = divergence_table([*runs, other]).splitlines()[2]
    assert head == "| scenario | client | RocketMQ 4.9.3, 4.9.4 | RocketMQ 5.5.0 |"


def test_what_became_of_the_messages_is_reported_where_it_differs(runs: list[Report]) -> None:
    lines = printed(runs, [], width=120).splitlines()
    assert "4 delivered, 4 filtered by the client: java on 4.9.4" in "\n".join(lines)
    assert "8 delivered: python on 4.9.4; java@4.9.4 on 5.5.0" in "\n".join(lines)
    assert "4 filtered by the client: java" not in printed(runs[:1] * 2, [], width=120)
