"""From a run that shows a finding to the smallest scenario that still does."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import PreconditionNotMet, UsageProblem
from rocketchaos.harness.core.text import counted
from rocketchaos.harness.core.user_files import folder_of
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.jars.builds import as_given, open_recorded
from rocketchaos.harness.nightly.document import Document, document_of
from rocketchaos.harness.nightly.findings import NightlyFinding, findings
from rocketchaos.harness.nightly.known_before import is_meant
from rocketchaos.harness.nightly.restate import name_of, opened, restated, with_expectation
from rocketchaos.harness.nightly.shrink import PATIENCE, Shrinking, measured, trust_of
from rocketchaos.harness.nightly.trial import TimeLimit, Trial
from rocketchaos.harness.plan.options import DEFAULT_VERSION, Options
from rocketchaos.harness.reporting.base import Report

OWN_CHECKS_SHARE = 0.25
"""At most this part of the time is kept for the runs by which the result's own checks are measured."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done for one finding."""

    repeat: int = 3
    """Runs of each candidate, where it takes them to trust it."""
    minutes: float = 20.0
    """For everything, the measuring of the original and of the result included."""
    patience: int = PATIENCE
    """An original that hasn't shown it again in this many times `repeat` runs is given up."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What has come of it."""

    document: Document
    """The smallest scenario, which states the finding by its own checks."""
    candidates: int
    runs: int
    errors: int
    """Runs that said nothing, because something failed."""
    shown: tuple[int, int]
    """In how many runs the original showed the finding, and of how many."""
    held: tuple[int, int]
    """In how many runs the result's own checks held, and of how many."""
    given_up: int
    """How many smaller ones hardly showed it again, and were given up."""
    in_time: bool
    """Whether nothing smaller shows it, as far as reductions go; else the time was up before."""

    @property
    def sentence(self) -> str:
        """How it was found, in figures."""
        errors = f", {self.errors} of them errors" if self.errors else ""
        held = "in {} of {}".format(*self.held) if self.held[1] else "not measured"
        given_up = (
            f"; {counted(self.given_up, 'smaller one')} hardly showed it again" if self.given_up else ""
        )
        late = "" if self.in_time else "; the time was up before everything smaller had been tried"
        return (
            f"{counted(self.candidates, 'candidate')}, {counted(self.runs, 'run')}{errors}; the original shows it "
            f"in {self.shown[0]} of {self.shown[1]}, and the smallest, by its own checks, {held}{given_up}{late}"
        )


class Smallest:
    """One finding of one run, with the attempts to reproduce it so far."""

    def __init__(self, report: Report, finding: NightlyFinding, effort: Effort, options: Options) -> None:
        """`options`: with which the run is done again, see `options_of`."""
        self._finding, self._effort, self._options = finding, effort, options
        self._original = opened(_played(report))
        self._folder = folder_of(str(report.folder / "scenario.yaml"))
        self._origin = f"Shrunk from {report.scenario.name}, RocketMQ {options.version}"
        self._search: Shrinking | None = None
        self._trial: Trial | None = None

    @property
    def name(self) -> str:
        """The name of the result."""
        return name_of(self._original, self._finding)

    @property
    def programs_folder(self) -> Path | None:
        """From where programs of the user's are looked up that the scenario names; None: it names none."""
        named = any("app" in said for said in self._original.get("consumers", {}).values())
        return self._folder if named else None

    def so_far(self) -> Document | None:
        """The smallest one when the search is interrupted, with the note that its checks were not measured.

        None as long as none is known at all.
        """
        stated = self._stated()
        return None if stated is None else with_expectation(stated, 0, 0, whole=False)

    def _stated(self) -> Document | None:
        """The smallest one that is known to show it, stated by checks."""
        if self._search is None or self._trial is None:
            return None
        smallest = self._search.smallest
        return restated(smallest, self._trial.found_in(smallest) or self._finding, self._origin)

    def run(self) -> Shrunk:
        """Search until nothing smaller shows it, or the time is up.

        Raises:
            PreconditionNotMet: the original doesn't show it again.
            EnvironmentNotReady, UsageProblem, HarnessDefect: the original, or nothing any more, can be run.
            KeyboardInterrupt: the user wants it to end; `so_far` has what is known.
        """
        repeat, limit = self._effort.repeat, TimeLimit(self._effort.minutes)
        with Runner(self._options) as runner, limit.cutting(runner.interrupted):
            trial = self._trial = Trial(runner, self._finding.code, limit, self._folder)
            shown, of = measured(self._original, trial.of_original, repeat, self._effort.patience)
            trust = trust_of(shown, of)
            if trust is None:
                raise _not_shown(of, limit)
            self._origin += f", where {shown} of {of} runs show the finding"

            def is_late() -> bool:
                # One run more, and then what was found is measured by its own checks.
                return limit.left_s < min((1 + repeat) * trial.run_s, OWN_CHECKS_SHARE * limit.seconds)

            search = Shrinking(self._original, trial, trust, is_late, _in_words(self._options.progress))
            self._search = search
            search.run()
            stated, held = self._measured(search, trial)
            return Shrunk(
                document=with_expectation(stated, *held, whole=search.in_time),
                candidates=len(search.tried),
                runs=trial.runs,
                errors=trial.errors,
                shown=(shown, of),
                held=held,
                given_up=search.given_up,
                in_time=search.in_time,
            )

    def _measured(self, search: Shrinking, trial: Trial) -> tuple[Document, tuple[int, int]]:
        """The result, and in how many runs its own checks held, and of how many.

        They may hold sooner than an invariant speaks, which waits until nothing can be on its way any more. Of
        many candidates some show the finding often enough by luck, and the smallest is the luckiest of them: where
        it hardly shows it again, it is given up for the one before it.
        """
        while True:
            stated = self._stated()
            assert stated is not None
            before = trial.shown_again
            held = measured(stated, trial.holds, self._effort.repeat)
            if not search.trust.is_shaken(trial.shown_again - before, held[1]) or not search.back():
                return stated, held


def options_of(report: Report, runs: Path, progress: Callable[[str], None]) -> Options:
    """All as it was for this run."""
    record = report.record
    open_recorded(record)
    return Options(
        version=str(record.get("rocketmq") or DEFAULT_VERSION),
        on=ClusterKind((record.get("cluster") or {}).get("kind") or ClusterKind.EMBEDDED),
        timing=record.get("timing"),
        seed=record.get("seed"),
        runs=runs,
        progress=progress,
    )


def reproduce_command(file: Path, options: Options) -> str:
    """A line to paste that runs a file with the same version on the same kind of cluster."""
    words = ["rocketchaos", "reproduce", str(file)]
    if options.version != DEFAULT_VERSION:
        words += ["--rocketmq", as_given(options.version)]
    if options.on is not ClusterKind.EMBEDDED:
        words += ["--on", options.on.value]
    return shlex.join(words)


def chosen(report: Report, text: str) -> NightlyFinding:
    """The first finding of a run that has the text in its code, or in its words.

    Raises:
        UsageProblem: there is none.
    """
    found = findings(report.scenario, report.events, report.outcome)
    if not found:
        raise UsageProblem(
            f"{report.folder} shows no finding", "`rocketchaos nightly` names the runs that show one."
        )
    for finding in found:
        if is_meant(finding.code, text):
            return finding
    raise UsageProblem(
        f"no finding of {report.folder} has `{text}` in its code",
        "There are: " + "; ".join(item.title for item in found),
    )


def _played(report: Report) -> Document:
    """The run's scenario, with the timing and the client that options had given it."""
    document = document_of(report.scenario.source, report.scenario.file)
    timing, client = report.record.get("timing"), report.record.get("chosen_client")
    if timing and timing != report.scenario.timing:
        document["timing"] = timing
    if client:
        document["consumers"] = {
            name: said if "client" in said else {**said, "client": client}
            for name, said in document.get("consumers", {}).items()
        }
    return document


def _not_shown(of: int, limit: TimeLimit) -> PreconditionNotMet:
    if limit.is_up:
        return PreconditionNotMet(
            f"the time was up, and not one of {of} further runs had shown it", "Raise --minutes."
        )
    return PreconditionNotMet(f"not one of {of} further runs shows it", "Raise --repeat.")


def _in_words(progress: Callable[[str], None]) -> Callable[[str], None]:
    return lambda text: progress(f"shrinking: {text}")
