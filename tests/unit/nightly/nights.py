"""Nights whose runs are told: a runner without a cluster, and what came of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from rocketchaos.harness.core.model import Outcome, OutcomeKind, Trouble
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.nightly.night import Night
from rocketchaos.harness.nightly.nightly_run import judged_run
from rocketchaos.harness.nightly.profile import Profile
from rocketchaos.harness.nightly.shard import Shard
from rocketchaos.harness.nightly.summary import Summary, summary_of
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.reporting.base import Report
from tests.unit.nightly.stories import Story

TAKES_S = 10.0


SHORT = Profile(dimensions={"operations": {"0": 1}, "groups": {"1": 1}, "client": {"java push": 1}})


class FakeRunner:
    """Answers each job with what a story says, after some time; no cluster is near."""

    def __init__(self, story: Callable[[int], Story], trouble: Callable[[int], Trouble | None]) -> None:
        self.options = Options()
        self.interrupted = threading.Event()
        self.reports: list[Report] = []
        self.jobs: list[str] = []
        self.now_s = 0.0
        self._story, self._trouble = story, trouble

    def job(self, scenario: Any) -> Job:
        return Job(scenario, "4.9.4")

    def run(self, job: Job, slot: object = None) -> Report:
        number = len(self.jobs) + 1
        self.jobs.append(job.scenario.name)
        self.now_s += TAKES_S
        self.reports.append(report_of(self._story(number), self._trouble(number), job.scenario.name))
        return self.reports[-1]

    def forget(self, report: Report) -> None:
        self.reports.remove(report)


def report_of(story: Story, trouble: Trouble | None, name: str) -> Report:
    error = trouble in (Trouble.ENVIRONMENT, Trouble.HARNESS)
    kind = OutcomeKind.ERROR if error else OutcomeKind.INCONCLUSIVE if trouble else OutcomeKind.REPRODUCED
    messages = tuple(story.judged.fates)
    scenario = story.scenario.model_copy(update={"name": name})
    return Report(
        scenario=scenario,
        outcome=Outcome(kind, None, None, f"it is {trouble}", trouble, (), messages),
        events=story.events,
        record={"seed": 7, "seconds": 1.0, "load": {"busy_share": 0.5}},
        folder=Path("runs") / name,
    )


def played(
    runner: FakeRunner, minutes: float = 3.0, profile: Profile = SHORT, shard: Shard | None = None
) -> Night:
    night = Night(7, profile, minutes, shard or Shard(), clock=lambda: runner.now_s, parallel=1)
    night.play(cast(Runner, runner), lambda _run: None)
    return night


def always(what: Any) -> Callable[[int], Any]:
    return lambda _number: what


def night_of(*parts: tuple[Story, Trouble | None]) -> Night:
    """A night whose runs are these."""
    night = Night(7, Profile(), 5.0, Shard())
    for number, (story, trouble) in enumerate(parts, 1):
        night.runs.append(judged_run(number, report_of(story, trouble, f"nightly-7-{number}"), 1))
    return night


def summary(*parts: tuple[Story, Trouble | None], known: frozenset[str] = frozenset()) -> Summary:
    return summary_of(night_of(*parts), known)
