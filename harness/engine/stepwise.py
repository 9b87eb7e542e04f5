"""A run one step at a time, where `harness.engine.run` plays a scenario at a stretch."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from rocketchaos.assertions.judge import judge
from rocketchaos.harness.core.errors import HarnessDefect, UsageProblem
from rocketchaos.harness.core.model import Event, Finding, Trouble
from rocketchaos.harness.engine.context import RunContext
from rocketchaos.harness.engine.run import observe_end, perform
from rocketchaos.harness.engine.runner import Runner, report_of
from rocketchaos.harness.probes.watch import Watch
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.scenario.model import Scenario


class Performance:
    """The test_bed of a run whose steps become known one after the other.

    Whoever uses it notes what fails (`note_failure`), and ends it with `finish` whatever happened.
    """

    def __init__(self, runner: Runner, scenario: Scenario) -> None:
        """
        Raises:
            EnvironmentNotReady: no run folder can be made, or no Java is there to run anything with.
        """
        with ExitStack() as stack:
            job = runner.job(scenario)
            managed = stack.enter_context(runner.cluster_for(job))
            self._run = runner.new_run(managed, job)
            self._run.all_own = True
            self._test_bed = self._run.open()
            self._managed = stack.pop_all()
        self._own_cluster = scenario.needs_own_cluster
        self.failure: BaseException | None = None
        """What broke the run."""
        self._context: RunContext | None = None
        self._watch: Watch | None = None

    @property
    def folder(self) -> Path:
        """The run folder."""
        return self._run.folder.path

    @property
    def events(self) -> tuple[Event, ...]:
        """The history up to now."""
        return tuple(self._test_bed.history.events)

    def provision(self) -> None:
        """Start the clients and create the topics; raises as `TestBed.provision`."""
        with self._run.phase("provision"):
            self._context = self._test_bed.provision()
        self._watch = Watch(self._context, self._run.managed.processes.workers.run_count)
        self._watch.start()

    def know(self, scenario: Scenario, text: str) -> None:
        """Go on by this scenario, which has more steps or checks; `text` is its file.

        Raises:
            UsageProblem: a new step does something to a node, and the cluster is others' as well.
        """
        if scenario.needs_own_cluster and not self._own_cluster:
            raise UsageProblem(
                "this step changes the cluster, which the run shares with others",
                "Ask for one of its own before the first step: `rocketmq.cluster(own=True)`.",
            )
        self._run.job = replace(self._run.job, scenario=scenario)
        self._test_bed.scenario = self._in_test_bed.scenario = scenario
        self._run.folder.write_text("scenario.yaml", text)

    def step(self, index: int) -> None:
        """Do one step of the scenario; raises as `Step.run`."""
        with self._run.phase("steps"):
            perform(self._in_test_bed, index, self._run.scenario.steps[index])

    def resolve(self, target: str) -> tuple[str, ...]:
        """The consumers for which a name or a variable stands now."""
        return self._in_test_bed.resolve([target])

    def last_finding(self) -> Finding:
        """What the last check of `anomaly` finds now."""
        findings = judge(self._run.scenario, self.events).findings
        return [finding for finding in findings if finding.section == "anomaly"][-1]

    def note_failure(self, failure: BaseException) -> None:
        """Write down what broke the run."""
        self.failure = failure
        self._test_bed.note_failure(failure)

    def finish(self, checked: bool) -> Report:
        """Observe, unless something broke the run; tear down, judge, and write it all down."""
        try:
            if self.failure is None and self._context is not None:
                with self._run.phase("observe"):
                    if not checked:
                        self._test_bed.note(Trouble.PRECONDITION, "nothing was checked")
                    observe_end(self._context, self._run.managed)
                    self._test_bed.check_memory()
        except BaseException as failure:
            self.note_failure(failure)
        finally:
            with self._managed, self._run.phase("tear down"):
                if self._watch is not None:
                    self._watch.stop()
                self._test_bed.tear_down()
        return report_of(self._run.judge(self._test_bed))

    @property
    def _in_test_bed(self) -> RunContext:
        if self._context is None:
            raise HarnessDefect("the run was not provisioned")
        return self._context
