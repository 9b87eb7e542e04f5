"""What is expected of which cell of the matrix, and what becomes of a run of which nothing is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from rocketchaos.assertions.judge import judge
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.model import Event, OutcomeKind, Trouble
from rocketchaos.harness.language.expectation import expected_in, expected_kinds, expected_text, label_of
from rocketchaos.harness.reference.catalogue import in_pairs
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.verdict import expectation, failing_findings, judged, tells_why
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.editor_schema import mistakes
from tests.unit.history_builder import EIGHT_MESSAGES, eight_messages, record_of, scenario_of

YES, NO = OutcomeKind.REPRODUCED, OutcomeKind.NOT_REPRODUCED
BY_CLIENT = {
    "java": "reproduced",
    "python": "not-reproduced",
    "grpc": {">=5.0,<5.4": "reproduced", ">=5.4": "not-reproduced"},
}
BY_VERSION = {">=4.9.4": "reproduced", "<4.9.4": "not-reproduced"}
FIRST_WINS: dict[str, Any] = {
    "java": {">=5": "not-reproduced"},
    "<4.9.4": "not-reproduced",
    ">=4.9": {"java+python": "not-reproduced", "java": "reproduced"},
}


@pytest.mark.parametrize(
    ("expected", "client", "version", "wanted"),
    [
        ("reproduced", "java", "4.9.4", YES),
        ("reproduced", "java@4.9.4", "5.5.0", YES),
        ("reproduced", "python", "4.9.4", None),
        ("reproduced", None, None, YES),
        (BY_CLIENT, "java@4.9.4", "5.5.0", YES),
        (BY_CLIENT, "python", "5.5.0", NO),
        (BY_CLIENT, "grpc", "5.3.3", YES),
        (BY_CLIENT, "grpc", "5.5.0", NO),
        (BY_CLIENT, "grpc", "4.9.4", None),
        (BY_CLIENT, "java+python", "4.9.4", None),
        (BY_CLIENT, None, None, YES),
        (BY_VERSION, "python", "4.9.3", NO),
        (BY_VERSION, "grpc", "5.5.0", YES),
        (BY_VERSION, "java", None, None),
        ({"app": "reproduced"}, "command", "4.9.4", YES),
        ({"app": "reproduced"}, "image", "4.9.4", YES),
        ({"app+java": "reproduced"}, "java+command", "4.9.4", YES),
        ({"command": "reproduced"}, "app", "4.9.4", None),
        (FIRST_WINS, "java", "5.5.0", NO),
        (FIRST_WINS, "java", "4.9.4", YES),
        (FIRST_WINS, "java", "4.9.3", NO),
        (FIRST_WINS, "python+java", "4.9.7", NO),
        (FIRST_WINS, "grpc", "5.5.0", None),
    ],
)
def test_the_first_that_fits_wins(
    expected: Any, client: str | None, version: str | None, wanted: OutcomeKind | None
) -> None:
    assert expected_in(expected, "java", client, version) is wanted


def test_one_word_speaks_of_the_clients_that_the_scenario_names() -> None:
    assert expected_in("reproduced", "java+python", "python@2.0.0+java@4.9.4", "4.9.4") is YES
    assert expected_in("reproduced", "java+python", "java", "4.9.4") is None


def test_a_label_has_each_kind_once_in_order_and_no_version() -> None:
    assert label_of("python+java@4.9.4+java") == "java+python"
    assert label_of("") == ""


def test_all_that_is_expected_somewhere() -> None:
    assert expected_kinds("reproduced") == {YES}
    assert expected_kinds(BY_CLIENT) == {YES, NO}
    assert expected_text("reproduced") == "reproduced"
    assert expected_text(BY_CLIENT) == (
        "java: reproduced, python: not-reproduced, grpc: (>=5.0,<5.4: reproduced, >=5.4: not-reproduced)"
    )


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("reproduced", True),
        ("{java: reproduced, python: {'>=5.0': not-reproduced}}", True),
        ("{'>=4.9.4,<5': reproduced, '<4.9.4': {java+python: reproduced}}", True),
        ("{jvaa: reproduced}", False),
        ("{java: yes}", False),
        ("{}", False),
        ("[reproduced]", False),
    ],
)
def test_files_and_the_schema_for_editors_agree(text: str, valid: bool) -> None:
    source = EIGHT_MESSAGES.replace("expected: reproduced", f"expected: {text}")
    assert (not mistakes(source)) is valid
    if valid:
        assert parse_scenario(source, "x.yaml").expected == yaml.safe_load(text)


def test_an_anomaly_of_some_cells_stands_before_its_control() -> None:
    control = scenario_of(EIGHT_MESSAGES.replace("name: same-group", "name: a-same-group"))
    control = control.model_copy(update={"expected": "not-reproduced"})
    anomaly = scenario_of(EIGHT_MESSAGES).model_copy(
        update={"expected": {"java": "reproduced", "grpc": "not-reproduced"}, "control": control.name}
    )
    assert in_pairs([control, anomaly]) == [anomaly, control]


def run_in(folder: Path, expected: Any, *, client: str | None, rocketmq: str | None, **how: Any) -> Report:
    """The classic experiment in a cell, with what is expected of it."""
    scenario, events = eight_messages(**how)
    return report_of(scenario.model_copy(update={"expected": expected}), events, folder, client, rocketmq)


def report_of(
    scenario: Scenario, events: list[Event], folder: Path, client: str | None, rocketmq: str | None
) -> Report:
    first = events[0]
    cell = {key: value for key, value in (("client", client), ("rocketmq", rocketmq)) if value is not None}
    events = [replace(first, data={**first.data, **cell}), *events[1:]]
    return Report(scenario, judge(scenario, events), events, record_of(scenario), folder)


def test_the_cell_stands_in_the_history(tmp_path: Path) -> None:
    python = run_in(tmp_path, BY_CLIENT, client="python", rocketmq="4.9.4")
    java = run_in(tmp_path, BY_CLIENT, client="java", rocketmq="4.9.4")
    older = run_in(tmp_path, "reproduced", client=None, rocketmq=None)
    assert [
        (item.outcome.kind, item.outcome.expected, item.outcome.as_expected) for item in (python, java, older)
    ] == [
        (YES, NO, False),
        (YES, YES, True),
        (YES, YES, True),
    ]
    assert [item.exit_code for item in (python, java)] == [ExitCode.NOT_AS_EXPECTED, ExitCode.AS_EXPECTED]


def test_what_nothing_is_expected_of_is_measured(tmp_path: Path) -> None:
    report = run_in(tmp_path, BY_CLIENT, client="grpc", rocketmq="4.9.4")
    assert (report.outcome.kind, report.outcome.expected, report.outcome.as_expected) == (YES, None, None)
    assert report.outcome.measured
    assert not report.outcome.wrong
    assert report.exit_code is ExitCode.AS_EXPECTED
    assert expectation(report) == "measured"
    assert not tells_why(report)
    assert failing_findings(report) == []


def test_an_error_is_wrong_also_where_nothing_is_expected(tmp_path: Path) -> None:
    report = run_in(tmp_path, "reproduced", client="grpc", rocketmq="5.5.0", finished=False)
    assert report.outcome.kind is OutcomeKind.ERROR
    assert report.outcome.trouble is Trouble.HARNESS
    assert (report.outcome.as_expected, report.outcome.wrong, report.outcome.measured) == (None, True, False)
    assert report.exit_code is ExitCode.HARNESS
    assert expectation(report) == "NOT measured"
    assert {failing_finding.section for failing_finding in failing_findings(report)} <= {
        "anomaly",
        "healthy",
        "also",
    }


def test_measured_and_inconclusive_is_no_failure_but_tells_why(tmp_path: Path) -> None:
    scenario, events = eight_messages()
    unlike = scenario_of(EIGHT_MESSAGES.replace("count: 0, claim", "count: 1, claim"))
    report = report_of(unlike, list(events), tmp_path, "python", "4.9.4")
    assert report.outcome.kind is OutcomeKind.INCONCLUSIVE
    assert report.exit_code is ExitCode.AS_EXPECTED
    assert tells_why(report)
    assert failing_findings(report) == []
    assert scenario.name == unlike.name


def test_the_sum_says_how_many_were_measured(tmp_path: Path) -> None:
    good = run_in(tmp_path, "reproduced", client="java", rocketmq="4.9.4")
    measured = run_in(tmp_path, "reproduced", client="python", rocketmq="4.9.4")
    wrong = run_in(tmp_path, "not-reproduced", client="java", rocketmq="4.9.4")
    assert judged([good, wrong]) == "1 as expected, 1 not"
    assert judged([good, measured, wrong, measured]) == "1 as expected, 1 not, 2 measured"


def test_of_a_race_nothing_is_expected() -> None:
    assert expected_in("measured", "java", "java", "4.9.4") is None
    assert expected_in({"java": "measured", "python": "reproduced"}, "java", "java", "4.9.4") is None
    assert expected_kinds({"java": "measured", "python": "reproduced"}) == {YES}
