"""A run step by step from Python, with the words of the scenario language: pytest's fixture `rocketmq`.

Without pytest::

    with Runner(Options()) as runner, LiveRun(runner, "mismatch") as rocketmq:
        rocketmq.topic("orders", queues=4)
        ...
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

from rocketchaos.assertions import CHECKS
from rocketchaos.assertions.judge import judge
from rocketchaos.assertions.refuted import Refuted
from rocketchaos.harness.core.errors import PreconditionNotMet, RocketchaosError, UsageProblem
from rocketchaos.harness.core.model import Event, Finding, Holds, Trouble
from rocketchaos.harness.core.nearest import listed, nearest
from rocketchaos.harness.core.text import event_numbers
from rocketchaos.harness.engine.recorded_scenario import RecordedScenario, value_of
from rocketchaos.harness.engine.run import Run
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.language.app_spec import App
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps import STEPS, Step

LIVE_STEPS = {word.replace("-", "_"): step for word, step in STEPS.items()}
"""The steps of a live run, by the name that they have in Python."""
LIVE_CHECKS = {word.replace("-", "_"): check for word, check in CHECKS.items() if check is not Refuted}
"""The checks of a live run, by the name that they have in Python."""


class CheckFailed(AssertionError):
    """A check that is seen not to hold."""

    def __init__(self, finding: Finding, text: str) -> None:
        super().__init__(text)
        self.finding = finding


class CheckUndecided(PreconditionNotMet):
    """A check that the history can't answer: evidence for nothing."""

    def __init__(self, finding: Finding, text: str) -> None:
        super().__init__(text)
        self.finding = finding


class LiveRun:
    """One run. Declare first, then do steps: `rocketmq.send(topic="orders", tag="tagA", count=8)`.

    Each step of the language is a method, each check one of `check`; their fields are the file's, and so is
    what they mean. Nothing is started before the first step. The run leaves an ordinary run folder, whose
    scenario says what was done and checked.
    """

    def __init__(self, runner: Runner, name: str, title: str = "") -> None:
        """
        Args:
            runner: whose clusters and options are used; it must outlive the run. name: of the scenario, as
            which the run is recorded. title: one sentence that gives cause and effect.
        """
        self._runner = runner
        self._scenario = RecordedScenario(name, " ".join(title.split()) or name)
        self._run: Run | None = None
        self._cluster = ExitStack()
        """Held until the run has ended."""
        self._ended = ""

    # Declarations --------------------------------------------------------------------------------------

    def topic(self, name: str, **fields: Any) -> None:
        """Declare a topic: `queues=4`. It is created before the first step."""
        self._require_undone("topic")
        self._scenario.declare("topics", name, fields)

    def consumer(self, name: str, **fields: Any) -> None:
        """Declare a consumer: `group="g", subscribe={"orders": "tagA"}`. The step `start` starts it."""
        self._require_undone("consumer")
        self._scenario.declare("consumers", name, fields)

    def app(self, name: str, *, jar: str | Path | None = None, **fields: Any) -> None:
        """Declare a consumer that is a program of your own: `jar="target/billing.jar", args=["$nameserver"]`,
        `group="billing", subscribe={"orders": "paid"}`; or `command=["./audit", "$nameserver"],
        sees={"log": r"handled (?P<key>\\S+)"}`, which runs in the current folder; or `image="shop:1.4"`, with
        `sees` too. Relative paths start at the current folder.
        """
        program = {key: fields.pop(key) for key in App.model_fields if key in fields}
        own = {} if jar is None else {"jar": str(Path(jar).expanduser().absolute())}
        self.consumer(name, app={**own, **program}, **fields)

    def groups(self, *names: str) -> None:
        """Declare groups without consumers, for raw pulls and hand-made heartbeats."""
        self._require_undone("groups")
        self._scenario.set("groups", list(names))

    def timing(self, profile: str) -> None:
        """Choose the timing profile: `compressed`, which is the default, or `faithful`."""
        self._require_undone("timing")
        self._scenario.set("timing", profile)

    def workers(self, where: str) -> None:
        """Choose where its clients run: on the `host`, which is the default, or in `containers`."""
        self._require_undone("workers")
        self._scenario.set("workers", where)

    def cluster(self, **fields: Any) -> None:
        """Ask for a cluster of a kind: `brokers=["broker-a", "broker-b"]`, `slaves=["broker-a"]`,
        `broker={"autoCreateTopicEnable": False}`; or for one of this run's own, `own=True`.
        """
        self._require_undone("cluster")
        self._scenario.set("cluster", fields)

    def _require_undone(self, what: str) -> None:
        if self._run is not None or self._ended:
            raise UsageProblem(
                f"`{what}` comes too late: the run has started", "Declare before the first step."
            )

    # Steps and checks ----------------------------------------------------------------------------------

    def __getattr__(self, word: str) -> Callable[..., str | None]:
        __tracebackhide__ = True
        model = LIVE_STEPS.get(word)
        if model is None:
            raise _unknown(word, "step", LIVE_STEPS)

        def step(*arguments: Any, **fields: Any) -> str | None:
            __tracebackhide__ = True
            return self._do(model, arguments, fields)

        step.__name__, step.__doc__ = word, model.__doc__
        return step

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *LIVE_STEPS]

    @property
    def check(self) -> Checks:
        """The checks: `rocketmq.check.delivered(to="$holder", count=4)`."""
        return Checks(self._ask)

    def resolve(self, target: str) -> tuple[str, ...]:
        """The consumers for which a variable like `$holder` stands now; a consumer's name stands for itself."""
        return () if self._run is None else self._run.context.variables.resolve([target])

    @property
    def folder(self) -> Path | None:
        """The run folder, from the first step on."""
        return None if self._run is None else self._run.folder.path

    @property
    def events(self) -> Sequence[Event]:
        """The history up to now."""
        return () if self._run is None else self._run.events

    def _do(self, model: type[Step], arguments: tuple[Any, ...], fields: Mapping[str, Any]) -> str | None:
        """The variable that the step binds, if it does: a name like `$holder` stays right in the record."""
        __tracebackhide__ = True
        scenario = self._recorded(
            lambda: self._scenario.add_step(model.word, value_of(model, arguments, fields))
        )
        index = self._scenario.step_count - 1
        self._performing(scenario, index)
        bound = scenario.steps[index].binds()
        return f"${bound[0]}" if bound else None

    def _ask(self, word: str, arguments: tuple[Any, ...], fields: Mapping[str, Any]) -> Finding:
        __tracebackhide__ = True
        before = self._scenario.step_count
        scenario = self._recorded(
            lambda: self._scenario.add_check(
                LIVE_CHECKS[word].word, value_of(LIVE_CHECKS[word], arguments, fields)
            )
        )
        run = self._performing(scenario, *range(before, self._scenario.step_count))
        finding = _last_finding(run)
        if finding.holds is Holds.YES:
            return finding
        text = _in_words(finding, run.folder.path)
        raise CheckFailed(finding, text) if finding.holds is Holds.NO else CheckUndecided(finding, text)

    def _recorded(self, add: Callable[[], Scenario]) -> Scenario:
        """Add to the transcript; refusals are shown without the inner workings."""
        __tracebackhide__ = True
        if self._ended:
            raise UsageProblem(
                f"the run is over: {self._ended}", "Nothing can be done or checked after that."
            )
        try:
            return add()
        except UsageProblem as problem:
            raise problem.with_traceback(None) from None

    def _performing(self, scenario: Scenario, *indices: int) -> Run:
        """Do these steps of the scenario, the first of all on a test bed that is set up for it."""
        __tracebackhide__ = True
        try:
            if self._run is None:
                self._run = self._begun(scenario)
                self._run.provision()
            if scenario.needs_own_cluster and not self._run.scenario.needs_own_cluster:
                raise UsageProblem(
                    "this step changes the cluster, which the run shares with others",
                    "Ask for one of its own before the first step: `rocketmq.cluster(own=True)`.",
                )
            self._run.go_on_by(scenario, self._scenario.text())
            for index in indices:
                self._run.step(index)
        except BaseException as failure:
            self._fail(failure)
        return self._run

    def _begun(self, scenario: Scenario) -> Run:
        """A run with a cluster for this scenario. `finish` returns the cluster."""
        with ExitStack() as stack:
            job = self._runner.job(scenario)
            managed = stack.enter_context(self._runner.cluster_for(job))
            run = self._runner.new_run(managed, job, all_own=True)
            self._cluster = stack.pop_all()
        return run

    def _fail(self, failure: BaseException) -> NoReturn:
        __tracebackhide__ = True
        self._ended = str(failure) or type(failure).__name__
        if self._run is not None:
            self._run.note_failure(failure)
        if isinstance(failure, RocketchaosError):
            if self._run is not None:
                failure.add_note(_where(self._run.folder.path))
            # Without the inner workings, of which a test's author learns nothing.
            raise failure.with_traceback(None) from None
        raise failure

    # The end -------------------------------------------------------------------------------------------

    def finish(self) -> Report | None:
        """Observe, stop everything, judge, and write the results into the run folder. Idempotent.

        None if nothing was done.

        Raises:
            EnvironmentNotReady, HarnessDefect: a process ended unexpectedly; the folder has the
            error too.
        """
        __tracebackhide__ = True
        run, was_over = self._run, bool(self._ended)
        if run is None or run.report is not None:
            return None if run is None else run.report
        self._ended = self._ended or "it was finished"
        if run.failure is None and not self._scenario.checks_something:
            run.note(Trouble.PRECONDITION, "nothing was checked")
        with self._cluster:
            report = run.finish()
        if run.failure is not None and not was_over:
            self._fail(run.failure)
        return report

    def __enter__(self) -> LiveRun:
        return self

    def __exit__(self, *_unused: object) -> None:
        self.finish()


class Checks:
    """The checks of a live run, each a method: it returns the finding, because it holds.

    Each first looks at the brokers and the clients again, unless `at` names an earlier `observe`.
    """

    def __init__(self, ask: Callable[[str, tuple[Any, ...], Mapping[str, Any]], Finding]) -> None:
        self._ask = ask

    def __getattr__(self, word: str) -> Callable[..., Finding]:
        __tracebackhide__ = True
        model = LIVE_CHECKS.get(word)
        if model is None:
            raise _unknown(word, "check", LIVE_CHECKS)

        def check(*arguments: Any, **fields: Any) -> Finding:
            __tracebackhide__ = True
            return self._ask(word, arguments, fields)

        check.__name__, check.__doc__ = word, model.__doc__
        return check

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *LIVE_CHECKS]


def _last_finding(run: Run) -> Finding:
    """What the last check of `anomaly` finds now."""
    findings = judge(run.scenario, run.events).findings
    return [finding for finding in findings if finding.section == "anomaly"][-1]


def _unknown(word: str, what: str, words: Mapping[str, object]) -> AttributeError:
    near = nearest(word, words)
    advice = f"; did you mean `{near}`?" if near else ""
    return AttributeError(f"there is no {what} `{word}`{advice} There are {listed(words)}.")


def _in_words(finding: Finding, folder: Path) -> str:
    answer = "does not hold" if finding.holds is Holds.NO else "can't be said"
    proof = event_numbers(finding.events)
    return "\n".join(
        (
            f"{finding.name}: {answer}",
            f"  expected: {finding.expected}",
            f"  observed: {finding.observed}" + (f" ({proof})" if proof else ""),
            _where(folder),
        )
    )


def _where(folder: Path) -> str:
    return f"Run: {folder}\nReproduce: rocketchaos reproduce {shlex.quote(str(folder))}"
