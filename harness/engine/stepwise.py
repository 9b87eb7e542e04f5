"""A run one step at a time, where `harness.engine.run` plays a scenario at a stretch."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from rocketchaos.assertions.judge import judge
from rocketchaos.harness.core.errors import HarnessDefect, UsageProblem
from rocketchaos.harness.core.model import Event, Finding, Trouble
from rocketchaos.harness.engine.campaign import Campaign, report_of
from rocketchaos.harness.engine.context import RunContext
from rocketchaos.harness.engine.run import observe_end, perform
from rocketchaos.harness.probes.watch import Watch
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.scenario.model import Scenario


class Performance:
    """The stage of a run whose steps become known one after the other.

    Whoever uses it notes what fails (`note_failure`), and ends it with `finish` whatever happened.
    """

    def __init__(self, campaign: Campaign, scenario: Scenario) -> None:
        """
        Raises:
            EnvironmentNotReady: no run folder can be made, or no Java is there to run anything with.
        """
        with ExitStack() as stack:
            job = campaign.job(scenario)
            session = stack.enter_context(campaign.session_for(job))
            self._run = campaign.new_run(session, job)
            self._run.all_own = True
            self._stage = self._run.open()
            self._session = stack.pop_all()
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
        return tuple(self._stage.history.events)

    def provision(self) -> None:
        """Start the clients and create the topics; raises as `Stage.provision`."""
        with self._run.phase("provision"):
            self._context = self._stage.provision()
        self._watch = Watch(self._context, self._run.session.processes.workers.run_count)
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
        self._stage.scenario = self._on_stage.scenario = scenario
        self._run.folder.write_text("scenario.yaml", text)

    def step(self, index: int) -> None:
        """Do one step of the scenario; raises as `Step.run`."""
        with self._run.phase("steps"):
            perform(self._on_stage, index, self._run.scenario.steps[index])

    def resolve(self, target: str) -> tuple[str, ...]:
        """The consumers for which a name or a variable stands now."""
        return self._on_stage.resolve([target])

    def last_finding(self) -> Finding:
        """What the last check of `anomaly` finds now."""
        findings = judge(self._run.scenario, self.events).findings
        return [finding for finding in findings if finding.section == "anomaly"][-1]

    def note_failure(self, failure: BaseException) -> None:
        """Write down what broke the run."""
        self.failure = failure
        self._stage.note_failure(failure)

    def finish(self, checked: bool) -> Report:
        """Observe, unless something broke the run; tear down, judge, and write it all down."""
        try:
            if self.failure is None and self._context is not None:
                with self._run.phase("observe"):
                    if not checked:
                        self._stage.note(Trouble.PRECONDITION, "nothing was checked")
                    observe_end(self._context, self._run.session)
                    self._stage.check_memory()
        except BaseException as failure:
            self.note_failure(failure)
        finally:
            with self._session, self._run.phase("tear down"):
                if self._watch is not None:
                    self._watch.stop()
                self._stage.tear_down()
        return report_of(self._run.judge(self._stage))

    @property
    def _on_stage(self) -> RunContext:
        if self._context is None:
            raise HarnessDefect("the run was not provisioned")
        return self._context
