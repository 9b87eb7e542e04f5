"""`--matrix` on the command line: what is understood, what is refused, what would be run. Nothing is started."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.cli import main as cli
from rocketchaos.harness.cli import reproduce, run
from rocketchaos.harness.core.errors import ExitCode, RocketchaosError, UsageProblem
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.jars.releases import Need
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.reporting.base import Report
from tests.unit.reporting.reports import good

ROOT = Path(__file__).parents[3]
TAGS = str(ROOT / "scenarios" / "tags")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a command would have run."""
    found: dict[str, Any] = {}

    def note(_runner: object, jobs: list[Job], **more: Any) -> ExitCode:
        found.update(more, jobs=[(job.scenario.name, job.clients, job.rocketmq) for job in jobs])
        return ExitCode.AS_EXPECTED

    monkeypatch.setattr(run, "run_and_tell", note)
    monkeypatch.setattr(reproduce, "run_and_tell", note)
    return found


@pytest.mark.parametrize(
    "words",
    [
        [TAGS, "--matrix", "clients=java,grpc", "rocketmq=4.9.4,5.5.0", "-k", "colliding"],
        ["-k", "colliding", "--matrix", "rocketmq=4.9.4,5.5.0", "clients=java,grpc", TAGS],
        ["--matrix=clients=java,grpc", TAGS, "-k", "colliding", "--matrix", "rocketmq=4.9.4,5.5.0"],
    ],
)
def test_run_takes_the_words_wherever_they_stand(
    asked: dict[str, Any], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", *words]) == ExitCode.AS_EXPECTED
    assert [(client, version) for _, client, version in asked["jobs"]] == [
        ("java", "4.9.4"),
        ("java", "5.5.0"),
        ("grpc", "5.5.0"),
    ]
    assert asked["matrix"] is True
    assert [(item.client, item.rocketmq) for item in asked["left_out"]] == [("grpc", "4.9.4")]
    assert "left out: grpc on RocketMQ 4.9.4: colliding-hashes" in capsys.readouterr().err


def test_without_a_matrix_all_is_as_before(asked: dict[str, Any]) -> None:
    assert cli.main(["run", TAGS, "-k", "colliding", "--rocketmq", "5.5.0"]) == ExitCode.AS_EXPECTED
    assert asked["jobs"] == [("colliding-hashes", "java", "5.5.0")]
    assert asked["matrix"] is False


def test_reproduce_repeats_every_cell(asked: dict[str, Any]) -> None:
    words = ["colliding-hashes", "--repeat", "2", "--matrix", "clients=java,python"]
    assert cli.main(["reproduce", *words]) == ExitCode.AS_EXPECTED
    assert asked["jobs"] == [
        ("colliding-hashes", "java", "4.9.4"),
        ("colliding-hashes", "java", "4.9.4"),
        ("colliding-hashes", "python", "4.9.4"),
        ("colliding-hashes", "python", "4.9.4"),
    ]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (
            ["--matrix", "clients=jvaa", "rocketmq=banana"],
            ["did you mean `java`?", "'banana' is no RocketMQ"],
        ),
        (["--matrix", "clents=java"], ["did you mean `clients=…`?"]),
        (["--matrix", "clients=grpc"], ["no scenario is left for RocketMQ 4.9.4", "needs the proxy"]),
    ],
)
def test_what_is_wrong_ends_with_2_before_anything_starts(
    asked: dict[str, Any], words: list[str], found: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["run", TAGS, "-k", "colliding"], ["reproduce", "colliding-hashes"]):
        assert cli.main([*command, *words]) == ExitCode.USAGE
        text = capsys.readouterr().err
        assert [item for item in found if item not in text] == []
        assert "Traceback" not in text
    assert asked == {}


def test_the_help_shows_it(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert cli.main(["run", "--help"]) == 0
    text = capsys.readouterr().out
    assert "--matrix" in text
    assert "clients=java,python rocketmq=4.9.4,5.5.0" in text


def test_repeats_go_round_after_round(asked: dict[str, Any]) -> None:
    words = ["--matrix", "rocketmq=4.9.4,5.5.0", "--repeat", "2"]
    assert cli.main(["run", TAGS, "-k", "colliding", *words]) == ExitCode.AS_EXPECTED
    assert [version for _, _, version in asked["jobs"]] == ["4.9.4", "5.5.0"] * 2


@pytest.mark.parametrize("command", [["run", TAGS], ["reproduce", "same-group-same-tags"]])
def test_versions_are_named_once(
    asked: dict[str, Any], command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*command, "--rocketmq", "5.5.0", "--matrix"]
    assert cli.main([*words, "rocketmq=4.9.4,5.3.3"]) == ExitCode.USAGE
    assert "--rocketmq 5.5.0 and --matrix rocketmq=4.9.4,5.3.3 both choose" in capsys.readouterr().err
    assert asked == {}
    assert cli.main([*words, "clients=java"]) == ExitCode.AS_EXPECTED
    assert {version for _, _, version in asked["jobs"]} == {"5.5.0"}


@pytest.fixture
def prepared(
    asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> dict[Need, RocketchaosError]:
    """Commands as they are, but for the runs, and what can't be had."""
    monkeypatch.undo()
    absent: dict[Need, RocketchaosError] = {}
    order = itertools.count()

    def run_all(_runner: Runner, jobs: list[Job], _parallel: object) -> Iterator[Report]:
        asked["ran"] = next(order)
        for job in jobs:
            record = {"cell": {"client": job.clients, "rocketmq": job.rocketmq}, "rocketmq": job.rocketmq}
            yield replace(good(tmp_path), record=record)

    def absences(_runner: Runner, _jobs: list[Job]) -> dict[Need, RocketchaosError]:
        asked["asked"] = next(order)
        return absent

    monkeypatch.setattr(Runner, "run_all", run_all)
    monkeypatch.setattr(Runner, "absences", absences)
    monkeypatch.chdir(tmp_path)
    return absent


@pytest.mark.parametrize("command", [["run", TAGS, "-k", "colliding"], ["reproduce", "colliding-hashes"]])
def test_a_version_that_can_t_be_had_is_left_out_and_the_rest_runs(
    prepared: dict[Need, RocketchaosError],
    asked: dict[str, Any],
    command: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    prepared[Need("4.9.8")] = UsageProblem(
        "there is no RocketMQ 4.9.8", "The nearest versions: 4.9.7, 5.0.0."
    )
    words = ["--repeat", "2", "--matrix", "rocketmq=4.9.0,4.9.8,5.5.0", "--json", "--junit", "junit.xml"]
    assert cli.main([*command, *words]) == ExitCode.USAGE
    assert asked["asked"] < asked["ran"]
    shown = capsys.readouterr()
    document = json.loads(shown.out)
    assert sorted(run["cell"]["rocketmq"] for run in document["runs"]) == ["4.9.0", "4.9.0", "5.5.0", "5.5.0"]
    reason = "there is no RocketMQ 4.9.8. The nearest versions: 4.9.7, 5.0.0."
    assert document["left_out"] == [reason]
    assert document["summary"]["exit_code"] == 2
    assert f"left out: java on RocketMQ 4.9.8: {reason}\n" in shown.err
    assert shown.err.endswith("rocketchaos: exit code 2, because of what was left out on RocketMQ 4.9.8\n")
    assert reason in Path("junit.xml").read_text()


def test_where_no_version_can_be_had_nothing_runs(
    prepared: dict[Need, RocketchaosError], asked: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    prepared[Need("4.9.8")] = UsageProblem(
        "there is no RocketMQ 4.9.8", "The nearest versions: 4.9.7, 5.0.0."
    )
    assert cli.main(["reproduce", "colliding-hashes", "--rocketmq", "4.9.8", "--json"]) == ExitCode.USAGE
    shown = capsys.readouterr()
    assert "ran" not in asked
    assert shown.out == ""
    assert shown.err.endswith("there is no RocketMQ 4.9.8\n  The nearest versions: 4.9.7, 5.0.0.\n")


def test_what_a_matrix_can_t_have_changes_no_exit_code(prepared: dict[Need, RocketchaosError]) -> None:
    words = ["--matrix", "clients=java,grpc", "rocketmq=4.9.4"]
    assert cli.main(["reproduce", "colliding-hashes", *words]) == ExitCode.AS_EXPECTED


def test_reproduce_says_that_a_scenario_names_its_clients(
    asked: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["go-message-sent-again", "--matrix", "clients=go@2.1.0,go@2.1.1"]
    assert cli.main(["reproduce", *words]) == ExitCode.AS_EXPECTED
    assert [(client, version) for _, client, version in asked["jobs"]] == [("go", "4.9.4")]
    assert "left out: the matrix's clients: the consumers of go-message-sent-again name theirs, go" in (
        capsys.readouterr().err
    )
