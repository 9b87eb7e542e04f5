"""A runner without a cluster: a recorded run answers, where the scenario still has what the finding takes."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.core.model import OutcomeKind, Trouble
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.folder import load_report
from rocketchaos.harness.scenario.model import Scenario

GOLDEN = Path(__file__).parents[2] / "golden" / "runs"
RUN = GOLDEN / "same-group-different-tags"
SILENT = GOLDEN / "same-group-same-tags"


def shows(scenario: Scenario) -> bool:
    """Two members want different tags, and something is sent."""
    wants = {str(consumer.subscribe) for consumer in scenario.consumers.values()}
    return len(wants) == 2 and any(step.word == "send" for step in scenario.steps)


class RecordedRunner:
    """Shows the finding as long as it can; what is asked of it is noted for all of them together."""

    jobs: list[Job] = []  # noqa: RUF012
    options_of: list[Options] = []  # noqa: RUF012
    troubles: Callable[[int], Trouble | None] = staticmethod(lambda _number: None)
    """By the number of the run."""
    answers: Callable[[int, Scenario], bool] = staticmethod(lambda _number, scenario: shows(scenario))
    before: Callable[[int, threading.Event], None] = staticmethod(lambda _number, _interrupted: None)
    """Called when a run begins."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.options_of.append(options)
        self.interrupted = threading.Event()

    def forget(self, report: Report) -> None:
        """As a real one does, and nothing was kept."""

    def __enter__(self) -> RecordedRunner:
        return self

    def __exit__(self, *_unused: object) -> None:
        pass

    def job(self, scenario: Scenario) -> Job:
        return Job(scenario, self.options.version)

    def run(self, job: Job) -> Report:
        self.jobs.append(job)
        number = len(self.jobs)
        self.before(number, self.interrupted)
        trouble = self.troubles(number)
        if trouble is None and self.answers(number, job.scenario):
            return load_report(RUN)
        silent = load_report(SILENT)
        if trouble is None:
            return silent
        outcome = dataclasses.replace(
            silent.outcome, kind=OutcomeKind.ERROR, trouble=trouble, reason="no disk", as_expected=False
        )
        return dataclasses.replace(silent, outcome=outcome)


def recorded_runner(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Any:
    """Put it in the place of real ones; files go into this folder."""
    monkeypatch.setattr("rocketchaos.harness.nightly.smallest.Runner", RecordedRunner)
    monkeypatch.chdir(folder)
    for name in ("jobs", "options_of"):
        monkeypatch.setattr(RecordedRunner, name, [])
    return RecordedRunner
