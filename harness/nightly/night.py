"""A night, on one page: draw, run in parallel, judge, until the time is up."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode, UsageProblem
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.core.text import counted
from rocketchaos.harness.engine.admission import FAITHFUL_SHARE, Admission, Slot, weight_of
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.facts.folder_facts import write_facts
from rocketchaos.harness.nightly.duration import expected_s
from rocketchaos.harness.nightly.findings import NightlyFinding
from rocketchaos.harness.nightly.generator import scenario_of
from rocketchaos.harness.nightly.memory import give_back
from rocketchaos.harness.nightly.nightly_run import NightlyRun, judged_run, not_begun
from rocketchaos.harness.nightly.pace import History, Pace, budget_s, kind_of
from rocketchaos.harness.nightly.profile import Profile
from rocketchaos.harness.nightly.shard import Deal, Shard
from rocketchaos.harness.plan.feasibility import why_not
from rocketchaos.harness.plan.options import DEFAULT_VERSION
from rocketchaos.harness.scenario.model import Scenario

SHARED_FOR_S = 300.0
"""How long a shared cluster takes new scenarios (`Options.shared_for_s`), so that a long night needs no more
memory, files and disk than a short one."""
TRIES = 2
"""A run that the environment broke is repeated once; no other run ever is."""
DRAWS_TO_FIT = 20
"""After this many scenarios in a row that are too long for the rest of the night, no other is drawn."""
DRAWS_FOR_ONE = 300
"""After this many scenarios in a row that don't fit this profile, version or cluster, none is drawn."""
BROKEN_AT_MOST = 3
"""The environment broke this many scenarios in a row, and none could be judged before: the night is over."""
BROKEN_FOR_GOOD = 20
"""The same, where some could be judged before: nothing more begins, and the night reports its findings."""
TEAR_DOWN_S = 10.0
"""The time before the end in which nothing begins: clusters end, and the summary is written."""
CUT_OFF_S = 6.0
"""So long before the end whatever is still under way is ended: it took longer than anybody could expect."""


@dataclass(slots=True)
class _Drawn:
    """A scenario that was drawn, and what has become of it so far."""

    number: int
    scenario: Scenario
    tried: list[NightlyRun] = field(default_factory=list)
    """What each try ended by."""
    is_under_way: bool = False
    """A try has started, and not ended."""

    @property
    def is_to_be_tried(self) -> bool:
        """Not yet, or once more."""
        return not self.tried or (len(self.tried) < TRIES and self.tried[-1].error is ExitCode.ENVIRONMENT)


@dataclass(slots=True)
class Night:
    """What is drawn and run from one seed within a time; `runs` has those that have ended."""

    seed: int
    profile: Profile
    minutes: float
    shard: Shard
    rocketmq: str = DEFAULT_VERSION
    on: ClusterKind = ClusterKind.EMBEDDED
    runs: list[NightlyRun] = field(default_factory=list)
    passed_over: int = 0
    """Scenarios that were drawn and not run: too long for the profile, or for the time that was left."""
    cut_off: int = 0
    """Runs that the end of the time found under way: they prove nothing, and are not judged."""
    parallel: int | None = None
    """How many runs at a time; None: by cores and load, see `harness.engine.admission`."""
    pace: Pace = field(default_factory=Pace)
    history: History = field(default_factory=dict)
    """How long scenarios took in an earlier night, by which they are dealt out: all shards have the same."""
    clock: Callable[[], float] = time.monotonic
    """In seconds."""
    _began: float = field(init=False)
    _numbers: Iterator[int] = field(init=False)
    _deal: Deal = field(init=False)
    _can_be_run: bool = False
    """Whether anything was drawn that can be."""
    _broken: int = 0
    """How many of the last runs in turn the environment broke."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _is_up: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._numbers = itertools.count(1)
        self._deal = Deal(self.shard)
        self._began = self.clock()

    @property
    def left_s(self) -> float:
        """Seconds in which runs may still be under way."""
        return self.minutes * 60 - TEAR_DOWN_S - self.took_s

    @property
    def took_s(self) -> float:
        """Seconds since it began."""
        return self.clock() - self._began

    @property
    def gave_up(self) -> bool:
        """Whether it started nothing more, because the environment broke each run."""
        return self._broken >= BROKEN_FOR_GOOD

    def play(self, runner: Runner, tell: Callable[[NightlyRun], None]) -> None:
        """Run until nothing more could end in time, or the environment breaks all that begins.

        Raises:
            UsageProblem: the profile lets nothing be drawn that can be run.
            EnvironmentNotReady: the first runs were all broken by the environment.
            KeyboardInterrupt: the user wants it to end; the runs that have ended by then are in `runs`.
        """
        admission = Admission(self.parallel)
        # Who only waits for a slot has drawn a scenario that comes late: no more of them than can be of use.
        count = self.parallel or max(1, int(admission.most * FAITHFUL_SHARE))
        with self._time_limit(runner), ThreadPoolExecutor(count, thread_name_prefix="night") as pool:
            workers = [pool.submit(self._work, runner, admission, tell) for _ in range(count)]
            try:
                for worker in as_completed(workers):
                    worker.result()
            except BaseException:
                # The other runs are to end as well, each judged and in its folder.
                runner.interrupted.set()
                raise

    @contextmanager
    def _time_limit(self, runner: Runner) -> Iterator[None]:
        """Ends the runs that are under way when the time is up, as Ctrl-C does."""

        def cut() -> None:
            self._is_up.set()
            runner.interrupted.set()

        timer = threading.Timer(max(0.0, self.minutes * 60 - CUT_OFF_S - self.took_s), cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _work(self, runner: Runner, admission: Admission, tell: Callable[[NightlyRun], None]) -> None:
        while (drawn := self._draw()) is not None:
            item = _Drawn(*drawn)
            try:
                self._play_one(runner, admission, item)
            except KeyboardInterrupt:
                if not self._is_up.is_set():
                    raise
                with self._lock:
                    self.cut_off += item.is_under_way
                return
            finally:
                # Also where a second try was cut off: what the first one ended by is not lost.
                self._note(item, tell)
            give_back()

    def _play_one(self, runner: Runner, admission: Admission, drawn: _Drawn) -> None:
        """Wait for a slot and run it, and once more where the environment breaks it, as long as there is time."""
        weight = weight_of(drawn.scenario, runner.options.timing_of(drawn.scenario))
        while drawn.is_to_be_tried:
            with admission.slot(weight, runner.interrupted) as slot:
                if self._is_too_late(drawn.scenario):
                    return
                drawn.is_under_way = True
                drawn.tried.append(self._try(runner, drawn, slot))
                drawn.is_under_way = False

    def _try(self, runner: Runner, drawn: _Drawn, slot: Slot) -> NightlyRun:
        began = self.clock()
        try:
            report = runner.run(runner.job(drawn.scenario), slot)
        except EnvironmentNotReady as problem:
            return not_begun(drawn.number, drawn.scenario, runner.options.runs, problem)
        run = judged_run(drawn.number, report, 1)
        note_findings(run.folder, run.findings)
        runner.forget(report)  # whose history would fill the memory in a long night
        if run.not_judged is None:
            kind = kind_of(drawn.scenario)
            self.pace.learn(kind, expected_s(drawn.scenario), self.clock() - began)
        return run

    def _draw(self) -> tuple[int, Scenario] | None:
        """The next scenario of this shard that fits into the time that is left; None: none may begin any more."""
        too_late = 0
        with self._lock:
            while self.left_s > 0 and too_late < DRAWS_TO_FIT and not self.gave_up:
                number = next(self._numbers)
                scenario = scenario_of(self.seed, number, self.profile, self.on)
                reason = self._refusal(scenario)
                if reason is not None:
                    self.passed_over += 1
                    if not self._can_be_run and number >= DRAWS_FOR_ONE:
                        raise UsageProblem(
                            f"of {DRAWS_FOR_ONE} scenarios none can be run under this profile: {reason}",
                            "Let the profile draw more, or choose another `--rocketmq` or `--on`.",
                        )
                    continue
                self._can_be_run = True
                if not self._deal.is_own(budget_s(self.history, kind_of(scenario), expected_s(scenario))):
                    continue
                if not self._is_too_late(scenario):
                    return number, scenario
                self.passed_over += 1
                too_late += 1
            return None

    def _refusal(self, scenario: Scenario) -> str | None:
        """Why this profile, version or kind of cluster can't run the drawn scenario; None: it can."""
        expected, longest = expected_s(scenario), self.profile.longest / 1000
        if expected > longest:
            return f"{scenario.name} is expected to take {expected:.0f} s, `longest` are {longest:g} s"
        return why_not(scenario, self.rocketmq, self.on)

    def _is_too_late(self, scenario: Scenario) -> bool:
        return self.pace.needs_s(kind_of(scenario), expected_s(scenario)) > self.left_s

    def _note(self, drawn: _Drawn, tell: Callable[[NightlyRun], None]) -> None:
        """Record its result; a scenario that never started is skipped."""
        with self._lock:
            if not drawn.tried:
                self.passed_over += not drawn.is_under_way
                return
            *broken, last = drawn.tried
            run = replace(last, tries=len(drawn.tried), broken=tuple(each.folder for each in broken))
            self.runs.append(run)
            tell(run)
            self._broken = self._broken + 1 if run.error is ExitCode.ENVIRONMENT else 0
            hopeless = self._broken >= BROKEN_AT_MOST and all(each.not_judged for each in self.runs)
        if hopeless:
            raise EnvironmentNotReady(
                f"{counted(self._broken, 'run')} in a row came to nothing, and no other: {run.not_judged}",
                f"See {run.folder}.",
            )


def note_findings(path: Path, found: Sequence[NightlyFinding]) -> None:
    """Write the codes into `run.json`, and the facts again. Best effort: the night's status file has them too."""
    folder = RunFolder(path)
    record = folder.read_json("run.json")
    if not found or not record:
        return
    codes = {finding.code: finding.signature for finding in found}
    noted = {"findings": [{"code": code, "words": words} for code, words in codes.items()]}
    with suppress(EnvironmentNotReady):  # a full disk shows in whatever runs next
        folder.write_json("run.json", {**record, "nightly": noted})
        write_facts(folder)
