"""Runs of candidates: whether a finding is there, within a time, whatever the environment does meanwhile."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect, RocketchaosError, UsageProblem
from rocketchaos.harness.core.model import OutcomeKind, Trouble
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.nightly.document import Document, text_of
from rocketchaos.harness.nightly.findings import NightlyFinding
from rocketchaos.harness.nightly.nightly_run import judged_run
from rocketchaos.harness.nightly.shrink import TimeIsUp
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.model import Scenario

TEAR_DOWN_S = 6.0
"""So long before the end of the time whatever is still under way is ended, and nothing begins any more."""
FAILURES_IN_A_ROW = 3
"""Where the environment breaks this many candidates in a row, it breaks whatever comes next as well."""


class TimeLimit:
    """So long everything may take, what is under way and its end included."""

    def __init__(self, minutes: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.seconds = minutes * 60 - TEAR_DOWN_S
        """In which runs may be under way."""
        self._end = clock() + self.seconds
        self._was_cut = False

    @property
    def left_s(self) -> float:
        """Seconds in which runs may still be under way."""
        return self._end - self._clock()

    @property
    def is_up(self) -> bool:
        """Whether nothing may be under way any more."""
        return self._was_cut or self.left_s <= 0

    @contextmanager
    def cutting(self, interrupted: threading.Event) -> Iterator[None]:
        """Ends the run that is under way when the time is up, as Ctrl-C does."""

        def cut() -> None:
            self._was_cut = True
            interrupted.set()

        timer = threading.Timer(max(0.0, self.left_s), cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


class Trial:
    """Runs documents in a runner, one at a time, and says whether the finding of this code is there."""

    def __init__(self, runner: Runner, code: str, limit: TimeLimit, folder: Path = Path()) -> None:
        """`folder`: from where files are looked up that the documents name."""
        self._runner, self._code, self._limit, self._folder = runner, code, limit, folder
        self._found: dict[str, NightlyFinding] = {}
        self._failures = 0
        self.runs = 0
        self.errors = 0
        """Runs that said nothing, because something failed."""
        self.shown_again = 0
        """In how many runs of `holds` it was there."""
        self.run_s = 0.0
        """How long the last run took that showed the finding."""

    def of_original(self, document: Document) -> bool:
        """Whether a run shows it.

        Raises:
            TimeIsUp: it can't be known any more.
            EnvironmentNotReady, UsageProblem, HarnessDefect: it can't be run, not the second time either.
        """
        begin = time.monotonic()
        item = self._shown_by(self._run(document))
        if item is None:
            return False
        self._found[text_of(document)] = item
        self.run_s = time.monotonic() - begin
        return True

    def __call__(self, document: Document) -> bool:
        """Whether a run of a candidate shows it; one that can't be run shows nothing.

        Raises:
            TimeIsUp: it can't be known any more.
            EnvironmentNotReady: nothing can be run any more.
        """
        try:
            shows = self.of_original(document)
        except EnvironmentNotReady:
            self._failures += 1
            if self._failures >= FAILURES_IN_A_ROW:
                raise
            return False
        except (UsageProblem, HarnessDefect):
            return False
        self._failures = 0
        return shows

    def found_in(self, document: Document) -> NightlyFinding | None:
        """The finding as a run of this document showed it; None if none did."""
        return self._found.get(text_of(document))

    def holds(self, document: Document) -> bool:
        """Whether a run's own checks say that the anomaly is there.

        Raises:
            TimeIsUp: the answer can't be found any more, because the time is up or something fails.
        """
        try:
            report = self._run(document)
        except RocketchaosError as problem:
            raise TimeIsUp from problem
        self.shown_again += self._shown_by(report) is not None
        return report.outcome.kind is OutcomeKind.REPRODUCED

    def _shown_by(self, report: Report) -> NightlyFinding | None:
        found = judged_run(self.runs, report, 1).findings
        return next((finding for finding in found if finding.code == self._code), None)

    def _run(self, document: Document) -> Report:
        scenario = parse_scenario(text_of(document), str(self._folder / f"{document['name']}.scenario.yaml"))
        try:
            return self._once(scenario)
        except EnvironmentNotReady:
            return self._once(scenario)

    def _once(self, scenario: Scenario) -> Report:
        if self._limit.is_up:
            raise TimeIsUp
        try:
            report = self._runner.run(self._runner.job(scenario))
        except KeyboardInterrupt:
            if self._limit.is_up:
                raise TimeIsUp from None
            raise
        except RocketchaosError:
            self.runs, self.errors = self.runs + 1, self.errors + 1
            raise
        self._runner.forget(report)  # whose history nobody needs any more
        self.runs += 1
        if report.outcome.kind is OutcomeKind.ERROR:
            self.errors += 1
            raise _problem(report)
        return report


def _problem(report: Report) -> RocketchaosError:
    kinds = {Trouble.ENVIRONMENT: EnvironmentNotReady, Trouble.USAGE: UsageProblem}
    kind = kinds.get(report.outcome.trouble or Trouble.HARNESS, HarnessDefect)
    return kind(f"a run failed: {report.outcome.reason}", f"See {report.folder}.")
