"""The run, on one page: provision, start, steps, observe, tear down, judge."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from rocketchaos.assertions.event_view import END
from rocketchaos.assertions.judge import judge
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.events.run import RunEnded
from rocketchaos.harness.core.history import History
from rocketchaos.harness.core.machine_load import RunLoad
from rocketchaos.harness.core.model import Event, Outcome
from rocketchaos.harness.core.names import Names, new_token
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.engine.admission import Slot
from rocketchaos.harness.engine.context import RunContext
from rocketchaos.harness.engine.final_wait import FinalWait
from rocketchaos.harness.engine.managed_cluster import ManagedCluster
from rocketchaos.harness.engine.record import describe_run
from rocketchaos.harness.engine.test_bed import TestBed
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.probes.moment import observe_moment
from rocketchaos.harness.probes.watch import Watch
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps import Step
from rocketchaos.harness.steps.performing import perform as perform_step
from rocketchaos.harness.steps.place import Place


@dataclass(frozen=True, slots=True)
class RunResult:
    """A finished run."""

    scenario: Scenario
    folder: RunFolder
    outcome: Outcome
    events: Sequence[Event]
    record: Mapping[str, Any]
    """`run.json`."""


@dataclass(slots=True)
class Run:
    """One run of one scenario on a cluster's cluster, into one folder."""

    job: Job
    managed: ManagedCluster
    folder: RunFolder
    seed: int
    all_own: bool = False
    """Every client gets a process of its own: the steps are not known beforehand."""
    slot: Slot | None = None
    """How it was let in beside others; None: nobody asked."""
    load: RunLoad = field(default_factory=RunLoad)
    phases: dict[str, float] = field(default_factory=dict)
    """Seconds by phase."""
    started: float = field(default_factory=time.monotonic)
    result: RunResult | None = None
    """Once it is judged, also where it was interrupted."""

    @property
    def scenario(self) -> Scenario:
        """What is played."""
        return self.job.scenario

    def execute(self) -> RunResult:
        """Run it. Whatever goes wrong becomes the outcome.

        Raises:
            KeyboardInterrupt: the user wants it to end; the run so far is judged and in its folder.
        """
        test_bed = self.open()
        to_raise: BaseException | None = None
        try:
            self._play(test_bed)
        except BaseException as failure:
            to_raise = None if isinstance(failure, Exception) else failure
            test_bed.note_failure(failure)
        finally:
            with self.phase("tear down"):
                test_bed.tear_down()
        result = self.judge(test_bed)
        if to_raise is not None:
            raise to_raise
        return result

    def open(self) -> TestBed:
        """The test_bed of the run, with nothing on it yet; the scenario is in the folder."""
        names = Names(new_token())
        self.folder.write_text("scenario.yaml", self.scenario.source)
        # Now already: a run that is killed must be possible to run again.
        self.folder.write_json("run.json", self._record(names, None))
        self.folder.link_latest()
        history = History(names.token, self.folder.events_path)
        return TestBed(self.scenario, self.managed, self.folder, history, names, all_own=self.all_own)

    def _play(self, test_bed: TestBed) -> None:
        with self.phase("provision"):
            context = test_bed.provision()
        watch = Watch(context, self.managed.processes.workers.run_count)
        watch.start()
        try:
            with self.phase("steps"):
                for index, step in enumerate(self.scenario.steps):
                    perform(context, index, step)
        finally:
            watch.stop()
        with self.phase("observe"):
            observe_end(context, self.managed)
            test_bed.check_memory()

    def judge(self, test_bed: TestBed) -> RunResult:
        """Judge what was played, and write it all down."""
        outcome = judge(self.scenario, test_bed.history.events)
        record = self._record(test_bed.names, time.monotonic() - self.started)
        with suppress(EnvironmentNotReady):  # a full disk has been noted in the outcome already
            self.folder.write_json("run.json", record)
            self.folder.write_outcome(outcome)
        test_bed.history.close()
        self.result = RunResult(self.scenario, self.folder, outcome, test_bed.history.events, record)
        return self.result

    def _record(self, names: Names, seconds: float | None) -> dict[str, Any]:
        return describe_run(
            self.job,
            self.managed,
            names,
            seed=self.seed,
            seconds=seconds,
            phases=self.phases,
            load=self.load,
            slot=self.slot,
        )

    def phase(self, name: str) -> _Phase:
        """Adds the seconds spent in a `with` block to a phase."""
        return _Phase(self.phases, name)


def perform(context: RunContext, index: int, step: Step) -> None:
    """Do one step of the scenario, and write down that it was done."""
    perform_step(context.within(Place((index,))), step)


def observe_end(context: RunContext, managed: ManagedCluster) -> None:
    """Observe how everything ended, later where only time is missing; nothing that is to live may have died."""
    context.check_alive()
    observe_moment(context, END)
    processes = managed.processes
    FinalWait(context, processes.progress, lambda: Watch(context, processes.workers.run_count))()
    context.check_alive()
    context.history.append("harness", RunEnded())


class _Phase:
    """What `Run.phase` gives."""

    def __init__(self, phases: dict[str, float], name: str) -> None:
        self._phases, self._name, self._start = phases, name, 0.0

    def __enter__(self) -> None:
        self._start = time.monotonic()

    def __exit__(self, *_unused: object) -> None:
        self._phases[self._name] = self._phases.get(self._name, 0.0) + time.monotonic() - self._start
