"""The results of a night, in figures. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.model import SCHEMA_VERSION
from rocketchaos.harness.nightly.findings import NightlyFinding
from rocketchaos.harness.nightly.night import Night
from rocketchaos.harness.nightly.nightly_run import NightlyRun
from rocketchaos.harness.nightly.pace import as_json


@dataclass(frozen=True, slots=True)
class Found:
    """All findings of one code."""

    first: NightlyFinding
    runs: tuple[NightlyRun, ...]
    """Those that show it, in the order of their ends."""
    known: bool

    @property
    def code(self) -> str:
        return self.first.code

    @property
    def shortest(self) -> NightlyRun:
        """The run with the fewest events: the easiest one to read, and to shrink."""
        return min(self.runs, key=lambda run: run.events)


@dataclass(frozen=True, slots=True)
class Summary:
    """A night that has ended."""

    night: Night
    found: tuple[Found, ...]
    """New ones first, then by how often they were seen."""

    @property
    def runs(self) -> Sequence[NightlyRun]:
        return self.night.runs

    @property
    def new(self) -> tuple[Found, ...]:
        return tuple(item for item in self.found if not item.known)

    @property
    def not_judged(self) -> list[NightlyRun]:
        """Runs that say nothing, whatever the reason."""
        return [run for run in self.runs if run.not_judged is not None]

    @property
    def inconclusive(self) -> list[NightlyRun]:
        """Those of them in which a state was not reached: neither a finding nor an error."""
        return [run for run in self.not_judged if run.error is None]

    @property
    def errors(self) -> list[NightlyRun]:
        """Those that an error of the environment or of the harness ended."""
        return [run for run in self.runs if run.error is not None]

    @property
    def observed(self) -> dict[str, list[NightlyRun]]:
        """In which the service differs from the profile, each with the runs that show it."""
        found: dict[str, list[NightlyRun]] = {}
        for run in self.runs:
            for sentence in run.observed:
                found.setdefault(sentence, []).append(run)
        return found

    @property
    def again(self) -> int:
        """How often something was tried again, because the environment had failed."""
        return sum(run.tries - 1 for run in self.runs)

    @property
    def busy(self) -> float | None:
        """The median over the runs of the share of busy cores; None if it wasn't measured."""
        known = [run.busy for run in self.runs if run.busy is not None]
        return median(known) if known else None

    @property
    def exit_code(self) -> ExitCode:
        """By new findings alone; where not one run was judged, which says nothing at all, by why."""
        if self.new:
            return ExitCode.NOT_AS_EXPECTED
        if len(self.not_judged) < len(self.runs):
            return ExitCode.AS_EXPECTED
        return ExitCode.gravest([ExitCode.INCONCLUSIVE, *(run.error for run in self.errors if run.error)])

    def as_json(self) -> dict[str, Any]:
        """The status file."""
        night = self.night
        return {
            "schema_version": SCHEMA_VERSION,
            "seed": night.seed,
            "shard": str(night.shard),
            "minutes": night.minutes,
            "took_s": round(night.took_s, 1),
            "rocketmq": night.rocketmq,
            "on": night.on.value,
            "parallel": night.parallel,
            "profile": night.profile.model_dump(mode="json", exclude_defaults=True),
            "exit_code": int(self.exit_code),
            "scenarios": {
                "run": len(self.runs),
                "judged": len(self.runs) - len(self.not_judged),
                "inconclusive": len(self.inconclusive),
                "errors": len(self.errors),
                "tried_again": self.again,
                "passed_over": night.passed_over,
                "cut_off": night.cut_off,
                "gave_up": night.gave_up,
            },
            "pace": as_json(night.pace.known),
            "busy": None if self.busy is None else round(self.busy, 2),
            "findings": [_found_json(item) for item in self.found],
            "observed": [
                {"what": sentence, "runs": [str(run.folder) for run in runs]}
                for sentence, runs in self.observed.items()
            ],
            "not_judged": [
                {
                    "scenario": run.name,
                    "run": str(run.folder),
                    "why": run.not_judged,
                }
                for run in self.not_judged
            ],
        }


def summary_of(night: Night, known: frozenset[str]) -> Summary:
    """The summary; `known` are codes."""
    by_code: dict[str, list[tuple[NightlyFinding, NightlyRun]]] = {}
    for run in night.runs:
        for finding in run.findings:
            by_code.setdefault(finding.code, []).append((finding, run))
    found = [
        Found(pairs[0][0], tuple(run for _, run in pairs), code in known) for code, pairs in by_code.items()
    ]
    return Summary(night, tuple(sorted(found, key=lambda item: (item.known, -len(item.runs), item.code))))


def finding_of(found: Found, run: NightlyRun) -> NightlyFinding:
    """What the run shows of it."""
    return next(finding for finding in run.findings if finding.code == found.code)


def _found_json(found: Found) -> dict[str, Any]:
    return {
        "kind": found.first.kind,
        "code": found.code,
        "signature": found.first.signature,
        "known": found.known,
        "runs": len(found.runs),
        "shown_by": [
            {
                "scenario": run.name,
                "seed": run.seed,
                "run": str(run.folder),
                "scenario_file": str(run.folder / "scenario.yaml"),
                **finding_of(found, run).as_json(),
            }
            for run in found.runs
        ],
    }
