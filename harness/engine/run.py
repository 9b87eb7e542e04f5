"""The run, on one page: provision, start, steps, observe, tear down, judge."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from typing import Any

from rocketchaos.assertions.event_view import END, of_type
from rocketchaos.assertions.judge import judge
from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect, RocketchaosError
from rocketchaos.harness.core.events.clients import ConsumerStarted
from rocketchaos.harness.core.events.run import RunEnded
from rocketchaos.harness.core.history import History
from rocketchaos.harness.core.machine_load import RunLoad
from rocketchaos.harness.core.model import Event, Trouble
from rocketchaos.harness.core.names import Names, new_token
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.engine.admission import Slot
from rocketchaos.harness.engine.context import RunContext
from rocketchaos.harness.engine.final_wait import FinalWait
from rocketchaos.harness.engine.hold import Hold, held
from rocketchaos.harness.engine.managed_cluster import ManagedCluster
from rocketchaos.harness.engine.record import describe_run
from rocketchaos.harness.engine.test_bed import TestBed
from rocketchaos.harness.facts.folder_facts import write_facts
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.probes.moment import observe_moment
from rocketchaos.harness.probes.watch import Watch
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps.performing import perform
from rocketchaos.harness.steps.step_place import Place


class Run:
    """One run of one scenario on a cluster, into one folder: as a whole by `execute`, or step by step. Step by
    step means `provision`, then `step` for each, then always `finish`; failures are noted with `note_failure`.
    """

    def __init__(
        self,
        job: Job,
        managed: ManagedCluster,
        folder: RunFolder,
        seed: int,
        *,
        all_own: bool = False,
        slot: Slot | None = None,
        hold: Hold | None = None,
    ) -> None:
        """This writes the scenario into the folder, and all that a new run needs if this one is killed.

        Args:
            all_own: every client gets a process of its own: the steps are not known beforehand. slot: how it
            was admitted with others under way; None: it needed no admission. hold: holds the run open after its
            last step, while it is watched.
        """
        self.job = job
        self.managed = managed
        self.folder = folder
        self.failure: BaseException | None = None
        """The failure that broke it."""
        self.report: Report | None = None
        """Set once it is judged, even if it was interrupted."""
        self._seed, self._slot, self._hold = seed, slot, hold
        self._load = RunLoad()
        self._client_versions: dict[str, str] = {}
        """From the consumers that have started: versions in users' programs are only known then."""
        self._phases: dict[str, float] = {}
        """Seconds by phase."""
        self._started = time.monotonic()
        self._names = Names(new_token(), as_they_are=job.scenario.names_as_written)
        folder.write_text("scenario.yaml", self.scenario.source)
        folder.write_json("run.json", self._record(None))
        folder.link_latest()
        history = History(self._names.token, folder.events_path)
        self._test_bed = TestBed(self.scenario, managed, folder, history, self._names, all_own=all_own)
        self._watch: Watch | None = None

    @property
    def scenario(self) -> Scenario:
        """The scenario of the run."""
        return self.job.scenario

    @property
    def events(self) -> Sequence[Event]:
        """The history up to now."""
        return tuple(self._test_bed.history.events)

    @property
    def context(self) -> RunContext:
        """The context for steps.

        Raises:
            HarnessDefect: nothing was provisioned.
        """
        if self._test_bed.context is None:
            raise HarnessDefect("the run was not provisioned")
        return self._test_bed.context

    def execute(self) -> Report:
        """Run it. Every failure becomes the outcome.

        Raises:
            KeyboardInterrupt: the user wants it to end; the run so far is judged and in its folder.
        """
        try:
            self.provision()
            for index in range(len(self.scenario.steps)):
                self.step(index)
            if self._hold is not None:
                self._hold_open(self._hold)
        except BaseException as failure:
            self.note_failure(failure)
        report = self.finish()
        if self.failure is not None and not isinstance(self.failure, Exception):
            raise self.failure
        return report

    def provision(self) -> None:
        """Start the clients and create the topics; raises as `TestBed.provision`."""
        with self._phase("provision"):
            context = self._test_bed.provision()
        self._watch = Watch(context, self.managed.processes.workers.run_count)
        self._watch.start()

    def go_on_by(self, scenario: Scenario, text: str) -> None:
        """Continue with this scenario, which has more steps or checks; `text` is its file."""
        self.job = replace(self.job, scenario=scenario)
        self._test_bed.scenario = self.context.scenario = scenario
        self.folder.write_text("scenario.yaml", text)

    def step(self, index: int) -> None:
        """Do one step of the scenario, and write down that it was done; raises as `Step.run`."""
        with self._phase("steps"):
            perform(self.context.within(Place((index,))), self.scenario.steps[index])

    def _hold_open(self, hold: Hold) -> None:
        seen = held(self.context)
        self.folder.write_json("held.json", asdict(seen))
        try:
            with self._phase("hold"):
                hold(seen)
        finally:
            (self.folder.path / "held.json").unlink(missing_ok=True)

    def note_failure(self, failure: BaseException) -> None:
        """Write down what broke the run."""
        self._stop_watch()
        self.failure = failure
        self._test_bed.failures.note_failure(failure)

    def note(self, trouble: Trouble, message: str) -> None:
        """Write down why the run is no result, though nothing broke it."""
        self._test_bed.failures.note(trouble, message)

    def finish(self) -> Report:
        """Observe, unless something broke the run; tear down, judge, and write it all down."""
        try:
            if self.failure is None:
                self._stop_watch()
                with self._phase("observe"):
                    self._observe_end()
        except BaseException as failure:
            self.note_failure(failure)
        finally:
            with self._phase("tear down"):
                self._test_bed.tear_down()
        self.report = self._judged()
        return self.report

    def _observe_end(self) -> None:
        """Observe the end, later if only time is missing. Every process that should live must be alive."""
        context, processes = self.context, self.managed.processes
        context.check_alive()
        observe_moment(context, END)
        FinalWait(context, processes.progress, lambda: Watch(context, processes.workers.run_count))()
        context.check_alive()
        context.history.append("harness", RunEnded())
        self._test_bed.failures.check_memory()

    def _judged(self) -> Report:
        history = self._test_bed.history
        outcome = judge(self.scenario, history.events)
        self._client_versions = {
            event.node: event.body.client_version
            for event in of_type(history.events, ConsumerStarted)
            if event.body.client_version is not None
        }
        record = self._record(time.monotonic() - self._started)
        with suppress(EnvironmentNotReady):  # a full disk has been noted in the outcome already
            self.folder.write_json("run.json", record)
            self.folder.write_outcome(outcome)
            write_facts(self.folder)
        history.close()
        report = Report(
            scenario=self.scenario,
            outcome=outcome,
            events=history.events,
            record=record,
            folder=self.folder.path,
        )
        # `Runner` has it loaded while the first processes start.
        from rocketchaos.harness.reporting.folder import write_reports

        with suppress(RocketchaosError):  # a full disk is in the outcome already
            write_reports(report)
        return report

    def _record(self, seconds: float | None) -> dict[str, Any]:
        return describe_run(
            self.job,
            self.managed,
            self._names,
            seed=self._seed,
            seconds=seconds,
            phases=self._phases,
            load=self._load,
            slot=self._slot,
            seen=self._client_versions,
        )

    def _stop_watch(self) -> None:
        if self._watch is not None:
            self._watch.stop()

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        """Adds the seconds spent in the block to a phase."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._phases[name] = self._phases.get(name, 0.0) + time.monotonic() - began
