"""`rocketchaos shrink` without a cluster: a recorded run answers, where the scenario still has what it takes."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from harness import cli
from harness.errors import ExitCode
from harness.job import Job
from harness.model import OutcomeKind, Trouble
from harness.reporters.base import Report
from harness.reporters.folder import load_report
from harness.spec import load_scenario

GOLDEN = Path(__file__).parents[2] / "golden" / "runs"
RUN = GOLDEN / "same-group-different-tags"


class RecordedCampaign:
    """Shows the finding as long as two members want different tags and something is sent."""

    runs = 0
    fails_from = 10**6

    def __init__(self, options: Any) -> None:
        self.options = options

    def __enter__(self) -> RecordedCampaign:
        return self

    def __exit__(self, *_unused: object) -> None:
        pass

    def run(self, job: Job) -> Report:
        type(self).runs += 1
        recorded = load_report(RUN)
        scenario = job.scenario
        wants = {str(one.subscribe) for one in scenario.consumers.values()}
        if self.runs >= self.fails_from:
            outcome = dataclasses.replace(
                recorded.outcome, kind=OutcomeKind.ERROR, trouble=Trouble.ENVIRONMENT, reason="no disk"
            )
            return dataclasses.replace(recorded, outcome=outcome)
        if len(wants) == 2 and any(step.word == "send" for step in scenario.steps):
            return recorded
        return load_report(GOLDEN / "same-group-same-tags")


@pytest.fixture
def campaign(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> type[RecordedCampaign]:
    monkeypatch.setattr("harness.commands.shrink.Campaign", RecordedCampaign)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(RecordedCampaign, "runs", 0)
    return RecordedCampaign


def test_the_result_is_a_small_scenario_that_says_what_it_shows(
    campaign: type[RecordedCampaign], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["shrink", str(RUN), "--repeat", "2"]) == ExitCode.AS_EXPECTED
    (file,) = tmp_path.glob("*.scenario.yaml")
    scenario = load_scenario(file)
    assert {step.word for step in scenario.steps} >= {"send"}
    assert len(scenario.consumers) == 2
    assert scenario.topics["orders"].queues == 1
    assert [step.word for step in scenario.steps] == ["start", "bind", "send"]
    assert [check.word for check in scenario.anomaly] == ["undelivered"]
    assert scenario.expected == "reproduced"
    assert "Its checks held in 2 of 2 runs." in scenario.description
    assert str(campaign.runs) in capsys.readouterr().out


def test_a_run_without_a_finding_is_refused(
    campaign: type[RecordedCampaign], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["shrink", str(GOLDEN / "same-group-same-tags")]) == ExitCode.USAGE
    assert cli.main(["shrink", str(RUN), "--finding", "cross"]) == ExitCode.USAGE
    told = capsys.readouterr().err
    assert "shows no finding" in told
    assert "There are: wanted-but-not-delivered" in told
    assert campaign.runs == 0


def test_what_the_environment_breaks_says_nothing_of_a_candidate(
    campaign: type[RecordedCampaign], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, "fails_from", 4)
    assert cli.main(["shrink", str(RUN), "--repeat", "2"]) == ExitCode.ENVIRONMENT
    assert campaign.runs == 4


def test_what_was_found_until_the_environment_failed_is_written(
    campaign: type[RecordedCampaign],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(campaign, "fails_from", 12)
    assert cli.main(["shrink", str(RUN), "--repeat", "2"]) == ExitCode.ENVIRONMENT
    (file,) = tmp_path.glob("*.scenario.yaml")
    assert len(load_scenario(file).steps) < len(load_report(RUN).scenario.steps)
    assert f"Wrote {file.name}: the smallest one so far" in capsys.readouterr().err
