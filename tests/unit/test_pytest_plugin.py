"""The pytest plugin: collection, and how a run's outcome becomes pytest's. Only the plugin is under test: the
runs are prepared reports, and no cluster is started."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest_plugins = ["pytester"]

SCENARIO = """\
name: NAME
title: Half of the messages reach nobody
marks: [tags, not-a-registered-mark]
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: tagA}}
steps:
  - start: a
anomaly:
  - delivered: {to: a, count: 0}
healthy:
  - delivered: {to: a, count: 1}
also:
  - delivered: {to: g, count: 1}
"""

PREPARED = """
import rocketchaos.harness.pytest_items as plugin
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.core.model import Finding, Holds, Outcome, OutcomeKind, Trouble
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.jars.releases import Need
from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem

CLOSED = []
ABSENT = {
    Need("4.9.99"): UsageProblem("there is no RocketMQ 4.9.99", "The nearest versions: 4.9.7, 5.0.0."),
    Need("5.1.4", ("all-servers",)): UsageProblem("there is no RocketMQ 5.1.4: rocketmq-proxy is missing"),
}

def finding(section, holds):
    return Finding(section, "delivered to a", holds, "0 messages", "1 of 1 sent", (7,))

ENDINGS = {
    "well": (OutcomeKind.REPRODUCED, True, None, [finding("anomaly", Holds.YES)]),
    "unexpected": (OutcomeKind.NOT_REPRODUCED, False, None, [finding("anomaly", Holds.NO)]),
    "also-fails": (OutcomeKind.REPRODUCED, False, None, [finding("also", Holds.NO)]),
    "undecided": (OutcomeKind.INCONCLUSIVE, False, Trouble.PRECONDITION, []),
    "broken": (OutcomeKind.ERROR, False, Trouble.ENVIRONMENT, []),
    "measured": (OutcomeKind.INCONCLUSIVE, None, None, []),
    "not-even-measured": (OutcomeKind.ERROR, None, Trouble.ENVIRONMENT, []),
}

class PreparedRunner:
    def __init__(self, options):
        self.options = options

    def job(self, scenario):
        return Job(scenario, self.options.version)

    def run(self, job):
        scenario = job.scenario
        if scenario.name == "no-java":
            raise EnvironmentNotReady("no Java was found", "Install one.")
        if scenario.name == "stopped":
            raise KeyboardInterrupt
        kind, as_expected, trouble, findings = ENDINGS[scenario.name]
        expected = None if as_expected is None else OutcomeKind.REPRODUCED
        outcome = Outcome(kind, expected, as_expected, "the reason", trouble, tuple(findings), ())
        record = {"seed": self.options.seed or 5, "seconds": 12.5}
        return Report(scenario, outcome, (), record, self.options.runs / scenario.name / "1")

    def absences(self, jobs):
        print("ASKED FOR", *sorted({job.rocketmq for job in jobs}))
        return ABSENT

    def fetch(self, jobs):
        print("FETCHED", *sorted({job.rocketmq for job in jobs}))

    def close(self):
        print("CLOSED")

plugin.Runner = PreparedRunner
"""

PLUGIN = [] if entry_points(group="pytest11", name="rocketchaos") else ["-p", "rocketchaos_pytest"]


@pytest.fixture
def prepared(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest(PREPARED)
    return pytester


def scenarios(pytester: pytest.Pytester, *names: str) -> None:
    for name in names:
        file = pytester.path / f"{name}.scenario.yaml"
        file.write_text(SCENARIO.replace("NAME", name))


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest(*PLUGIN, "-p", "no:cacheprovider", "--strict-markers", *arguments)


def test_a_run_as_expected_passes_and_the_runner_is_closed(prepared: pytest.Pytester) -> None:
    scenarios(prepared, "well")

    result = run(prepared)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*CLOSED*"])


@pytest.mark.parametrize("name", ["unexpected", "also-fails"])
def test_a_run_not_as_expected_fails_in_words_of_our_own(prepared: pytest.Pytester, name: str) -> None:
    scenarios(prepared, name)

    result = run(prepared)

    result.assert_outcomes(failed=1)
    folder = prepared.path / "runs" / name / "1"
    text = result.stdout.str()
    assert "NOT as expected" in text
    assert "delivered to a: does not hold" in text
    assert "expected: 0 messages" in text
    assert "observed: 1 of 1 sent (event 7)" in text
    assert f"Run: {folder}\nReproduce: rocketchaos reproduce {folder}\n" in text
    assert "Traceback" not in text
    assert "pytest_plugin.py" not in text


@pytest.mark.parametrize(("name", "word"), [("undecided", "INCONCLUSIVE"), ("broken", "ERROR")])
def test_no_evidence_is_an_error(prepared: pytest.Pytester, name: str, word: str) -> None:
    scenarios(prepared, name)

    result = run(prepared)

    result.assert_outcomes(errors=1)
    text = result.stdout.str()
    assert f"{word}  Half of the messages reach nobody" in text
    assert "the reason" in text
    assert "Reproduce: rocketchaos reproduce" in text
    assert "pytest_plugin.py" not in text


def test_what_can_t_even_begin_is_an_error_of_one_message(prepared: pytest.Pytester) -> None:
    scenarios(prepared, "no-java")

    result = run(prepared)

    result.assert_outcomes(errors=1)
    assert "no Java was found\n  Install one." in result.stdout.str()
    assert "pytest_plugin.py" not in result.stdout.str()


def test_an_interruption_ends_pytest_and_closes_the_runner(prepared: pytest.Pytester) -> None:
    scenarios(prepared, "stopped", "well")

    result = prepared.runpytest_subprocess(*PLUGIN, "-s")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*CLOSED*"])


def test_an_invalid_file_is_a_collection_error_that_shows_the_place(prepared: pytest.Pytester) -> None:
    scenarios(prepared, "well")
    (prepared.path / "bad.scenario.yaml").write_text(SCENARIO.replace("start: a", "strat: a"))

    result = run(prepared)

    result.assert_outcomes(errors=1)
    text = result.stdout.str()
    assert "bad.scenario.yaml:8:5:" in text
    assert "did you mean `start`?" in text
    assert "Traceback" not in text
    assert "spec/" not in text
    assert "CLOSED" not in text


def test_other_yaml_files_are_left_alone(prepared: pytest.Pytester) -> None:
    (prepared.path / "scenario.yaml").write_text(SCENARIO)
    (prepared.path / "compose.yaml").write_text("services: {}")

    assert run(prepared).ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        (["-k", "well"], 1),
        (["-k", "nobody"], 1),
        (["-k", "not nobody"], 0),
        (["-m", "tags"], 1),
        (["-m", "not-a-registered-mark"], 1),
        (["-m", "not tags"], 0),
    ],
)
def test_a_scenario_is_selected_by_name_title_and_mark(
    prepared: pytest.Pytester, arguments: list[str], passed: int
) -> None:
    scenarios(prepared, "well")

    result = run(prepared, *arguments)

    result.assert_outcomes(passed=passed, deselected=1 - passed)


def test_junit_knows_the_history_and_how_long_it_took(prepared: pytest.Pytester) -> None:
    scenarios(prepared, "well", "undecided")

    run(prepared, "--junit-xml=junit.xml", "-o", "junit_duration_report=call", "--rocketchaos-seed=8")

    cases = {case.get("name"): case for case in ElementTree.parse("junit.xml").iter("testcase")}
    properties = {item.get("name"): item.get("value") for item in cases["well"].iter("property")}
    folder = prepared.path / "runs" / "well" / "1"
    assert properties == {
        "outcome": "reproduced",
        "seed": "8",
        "run_dir": str(folder),
        "history": str(folder / "events.jsonl"),
    }
    assert float(str(cases["well"].get("time"))) >= 12.5
    assert [child.tag for child in cases["undecided"]] == ["properties", "error"]


def test_options_reach_the_runs(prepared: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKETCHAOS_RUNS", "elsewhere")
    scenarios(prepared, "unexpected")

    assert f"Run: {prepared.path / 'elsewhere'}" in run(prepared).stdout.str()
    assert f"Run: {prepared.path / 'here'}" in run(prepared, "--runs-dir", "here").stdout.str()


def test_a_wrong_version_is_an_error_of_one_message(prepared: pytest.Pytester) -> None:
    scenarios(prepared, "well")

    result = run(prepared, "--rocketmq", "latest")

    result.assert_outcomes(errors=1)
    assert "'latest' is no RocketMQ version" in result.stdout.str()
    assert "pytest_plugin.py" not in result.stdout.str()


@pytest.mark.parametrize("option", [["--timing", "slow"], ["--rocketchaos-seed", "x"]])
def test_wrong_options_are_pytest_s_own_complaint(prepared: pytest.Pytester, option: list[str]) -> None:
    assert run(prepared, *option).ret == pytest.ExitCode.USAGE_ERROR


def test_items_say_where_they_stand(prepared: pytest.Pytester) -> None:
    scenarios(prepared, "unexpected")

    result = run(prepared, "--collect-only", "-q")

    assert Path("unexpected.scenario.yaml").name + "::unexpected" in result.stdout.str()


def test_what_nothing_is_expected_of_passes_unless_it_is_an_error(prepared: pytest.Pytester) -> None:
    scenarios(prepared, "measured", "not-even-measured")

    result = run(prepared)

    result.assert_outcomes(passed=1, errors=1)


def test_a_matrix_has_an_item_a_cell_and_skips_what_is_impossible(prepared: pytest.Pytester) -> None:
    scenarios(prepared, "well")

    result = run(prepared, "--matrix", "clients=java,grpc rocketmq=4.9.4,5.5.0", "-v", "-rs")

    result.assert_outcomes(passed=3, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "*well[[]java-4.9.4[]] PASSED*",
            "*well[[]grpc-4.9.4[]] SKIPPED*",
            "*well[[]java-5.5.0[]] PASSED*",
            "*well[[]grpc-5.5.0[]] PASSED*",
        ]
    )
    assert "needs the proxy" in result.stdout.str()


def test_a_version_that_can_t_be_had_is_an_error_of_its_cell_alone(prepared: pytest.Pytester) -> None:
    scenarios(prepared, "well")

    result = run(prepared, "--matrix", "clients=java,grpc rocketmq=4.9.4,4.9.99,5.1.4", "-v", "-s", "-rs")

    result.assert_outcomes(passed=2, skipped=3, errors=1)
    text = result.stdout.str()
    result.stdout.fnmatch_lines(["*ERROR at setup of well[[]java-4.9.99[]]*"])
    assert "there is no RocketMQ 4.9.99\n  The nearest versions: 4.9.7, 5.0.0." in text
    assert "well needs a proxy: there is no RocketMQ 5.1.4: rocketmq-proxy is missing" in text
    asked, fetched = text.index("ASKED FOR 4.9.4 4.9.99 5.1.4"), text.index("FETCHED 4.9.4 5.1.4")
    assert asked < fetched < text.index("PASSED")
    assert text.count("The nearest versions") == 1


def test_nothing_is_asked_for_where_nothing_is_run(prepared: pytest.Pytester) -> None:
    scenarios(prepared, "well")

    assert "ASKED" not in run(prepared, "--collect-only").stdout.str()
    assert "ASKED" not in run(prepared, "-k", "other").stdout.str()
    assert "ASKED FOR 4.9.4" in run(prepared).stdout.str()


def test_a_wrong_matrix_is_said_once(prepared: pytest.Pytester) -> None:
    scenarios(prepared, "well", "unexpected")

    result = run(prepared, "--matrix", "clients=jvaa")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.stderr.str().count("did you mean `java`?") == 1
