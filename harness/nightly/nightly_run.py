"""What is kept in memory of a run, so that a night of thousands needs no more of it than one of ten. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode
from rocketchaos.harness.core.model import OutcomeKind, Trouble
from rocketchaos.harness.nightly.findings import InvariantFailed, NightlyFinding, findings, why_not_judged
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.witnesses import other_subscriptions
from rocketchaos.harness.scenario.model import Scenario


@dataclass(frozen=True, slots=True)
class NightlyRun:
    """One scenario that was run; all else is in its folder."""

    number: int
    name: str
    title: str
    folder: Path
    seed: int | None
    seconds: float
    busy: float | None
    """The share of busy cores meanwhile."""
    events: int
    findings: tuple[NightlyFinding, ...]
    tries: int
    """More than one: the environment had failed before."""
    not_judged: str | None
    """Why it says nothing, or not all that there is, in one line; None if it was judged."""
    error: ExitCode | None
    """How it would end a command where an error ended it; None: no error did."""
    observed: tuple[str, ...] = ()
    """In which the service differs from the profile: no finding, as the run is judged by what the service does."""
    broken: tuple[Path, ...] = ()
    """The folders of the tries before."""


def judged_run(number: int, report: Report, tries: int) -> NightlyRun:
    """The part of an ended run that is kept. An invariant that crashes must neither end the night nor go
    unnoticed, and what the others found is kept.
    """
    found: Sequence[NightlyFinding] = ()
    not_judged = why_not_judged(report.outcome, report.events)
    error = report.exit_code if report.outcome.kind is OutcomeKind.ERROR else None
    try:
        found = findings(report.scenario, report.events, report.outcome)
        not_judged = None if found else not_judged
    except InvariantFailed as failure:
        found, not_judged, error = failure.findings, str(failure), ExitCode.HARNESS
    except Exception as failure:
        not_judged, error = f"an invariant failed: {type(failure).__name__}: {failure}", ExitCode.HARNESS
    return NightlyRun(
        number=number,
        name=report.scenario.name,
        title=report.scenario.title,
        folder=report.folder,
        seed=report.record.get("seed"),
        seconds=report.seconds,
        busy=(report.record.get("load") or {}).get("busy_share"),
        events=len(report.events),
        findings=tuple(found),
        tries=tries,
        not_judged=None if not_judged is None else not_judged.splitlines()[0],
        error=error,
        observed=tuple(
            dict.fromkeys(
                f"the service subscribes to {own}, and the profile says {declared}"
                for _, own, declared in other_subscriptions(report)
            )
        ),
    )


def not_begun(number: int, scenario: Scenario, runs: Path, problem: EnvironmentNotReady) -> NightlyRun:
    """What is kept of one that could not even begin, as on a full disk; its folder would have been in that one."""
    return NightlyRun(
        number=number,
        name=scenario.name,
        title=scenario.title,
        folder=runs / scenario.name,
        seed=None,
        seconds=0.0,
        busy=None,
        events=0,
        findings=(),
        tries=1,
        not_judged=f"{Trouble.ENVIRONMENT.value}: {problem.message}",
        error=problem.exit_code,
    )
