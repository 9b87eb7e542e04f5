"""From a judged run to its findings: the same ones every time. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assertions.view import RunView
from harness.model import Event, Outcome, Trouble
from harness.nightly.invariants import INVARIANTS, Breach, Judged
from harness.scenario import Scenario


@dataclass(frozen=True, slots=True)
class NightlyFinding:
    """One breach of an invariant in one run."""

    kind: str
    breach: Breach

    @property
    def signature(self) -> str:
        """What has the same cause has the same signature: without names, numbers, times and seeds."""
        return f"{self.kind}: {self.breach.cause}"

    def as_json(self) -> dict[str, Any]:
        """As the status file has it."""
        return {
            "kind": self.kind,
            "signature": self.signature,
            "sentence": self.breach.sentence,
            "group": self.breach.group,
            "events": list(self.breach.events),
        }


def findings(scenario: Scenario, events: Sequence[Event], outcome: Outcome) -> list[NightlyFinding]:
    """What was found in a run; nothing in one that did not come to its end, whatever it showed until then.

    One finding for each kind and cause: several groups of a scenario may show the same.
    """
    view = RunView(scenario, events)
    end = view.end_of("end")
    if why_not_judged(outcome) is not None or end is None:
        return []
    judged = Judged(view, outcome.messages, end)
    found: dict[str, NightlyFinding] = {}
    for invariant in INVARIANTS:
        for breach in invariant.breaches(judged):
            one = NightlyFinding(invariant.kind, breach)
            found.setdefault(one.signature, one)
    return list(found.values())


def why_not_judged(outcome: Outcome) -> str | None:
    """Why a run says nothing: something kept it from its end; None where it came there."""
    if outcome.trouble is None:
        return None
    return f"{outcome.trouble.value}: {outcome.reason}"


def is_environments(outcome: Outcome) -> bool:
    """Whether the machine or its surroundings failed, so that a second try may tell more."""
    return outcome.trouble is Trouble.ENVIRONMENT
