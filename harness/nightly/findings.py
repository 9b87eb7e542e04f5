"""From a judged run to its findings: the same ones every time. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Event, Outcome, Trouble
from rocketchaos.harness.nightly.invariants import INVARIANTS, Breach, Judged
from rocketchaos.harness.scenario.model import Scenario

CLOCK_JUMP_MS = 2_000
"""Smaller differences come from a busy machine between the readings of both clocks, and from small corrections of
a clock."""


@dataclass(frozen=True, slots=True)
class NightlyFinding:
    """One breach of an invariant in one run."""

    kind: str
    breach: Breach

    @property
    def code(self) -> str:
        """Findings with the same cause have the same code, one of `codes.CODES`."""
        return self.breach.code

    @property
    def signature(self) -> str:
        """The code in words, for people."""
        return f"{self.kind}: {self.breach.cause}"

    @property
    def title(self) -> str:
        """The code and the cause, in the form of a file of known findings."""
        return f"{self.code}: {self.breach.cause}"

    def as_json(self) -> dict[str, Any]:
        """As the status file has it."""
        return {
            "kind": self.kind,
            "code": self.code,
            "signature": self.signature,
            "sentence": self.breach.sentence,
            "group": self.breach.group,
            "events": list(self.breach.events),
        }


class InvariantFailed(Exception):
    """Some invariants crashed. The findings of the others stay."""

    def __init__(self, failures: Mapping[str, Exception], findings: Sequence[NightlyFinding]) -> None:
        """
        Args: failures: by the invariants' kinds. findings: those of the others.
        """
        sentences = (f"{kind}: {type(failure).__name__}: {failure}" for kind, failure in failures.items())
        super().__init__(f"an invariant failed: {'; '.join(sentences)}")
        self.findings = tuple(findings)


def findings(scenario: Scenario, events: Sequence[Event], outcome: Outcome) -> list[NightlyFinding]:
    """The findings of a run; none if it did not come to its end, whatever it showed until then.

    If a condition was not reached, some invariants are still checked (`Invariant.judges_unsettled`). One
    finding for each kind and cause: several groups of a scenario may show the same.

    Raises:
        InvariantFailed: some crashed; it has what the others found.
    """
    view = RunView(scenario, events)
    end = view.end_of("end")
    settled = outcome.trouble is None
    may_be_judged = settled or outcome.trouble is Trouble.PRECONDITION
    if end is None or not may_be_judged or why_no_time(events) is not None:
        return []
    judged = Judged(view, outcome.messages, end)
    found: dict[str, NightlyFinding] = {}
    failures: dict[str, Exception] = {}
    for invariant in INVARIANTS:
        if not settled and not invariant.judges_unsettled:
            continue
        try:
            for breach in invariant.breaches(judged):
                item = NightlyFinding(invariant.kind, breach)
                found.setdefault(item.code, item)
        except Exception as failure:
            failures[invariant.kind] = failure
    if failures:
        raise InvariantFailed(failures, list(found.values())) from next(iter(failures.values()))
    return list(found.values())


def why_not_judged(outcome: Outcome, events: Sequence[Event]) -> str | None:
    """Why a run is no result: it did not come to its end, or its times are unknown; None if it is one."""
    if outcome.trouble is not None:
        return f"{outcome.trouble.value}: {outcome.reason}"
    return why_no_time(events)


def why_no_time(events: Sequence[Event]) -> str | None:
    """Why times are not to be trusted: the wall clock was set, or the machine slept; None if they are.

    RocketMQ itself uses the wall clock, as for `ProcessQueue.isPullExpired`, for silent channels and for the locks
    of orderly queues (4.9.4). If that clock jumps, queues change owners without a fault, and lines of logs can't
    be compared with events.
    """
    ahead_ms = [event.wall_ms - event.mono_ns / 1e6 for event in events if event.node == "harness"]
    jump_ms = max(ahead_ms, default=0.0) - min(ahead_ms, default=0.0)
    return f"the machine's clock jumped by {jump_ms / 1000:.1f} s" if jump_ms > CLOCK_JUMP_MS else None
