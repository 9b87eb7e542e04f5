"""How much longer than expected scenarios take on a machine, by kind: learnt from those that have ended."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.scenario.model import Scenario

UNKNOWN = 2.0
"""Seconds for each expected one, before anything is known."""
SAFETY = 1.5
"""Of several that are to end in time one may take longer than expected."""
ENOUGH = 5
"""From this many scenarios on a kind is judged by itself; before, together with all others."""
_REMEMBERED = 10
"""The scenarios of a kind in earlier nights count as at most this many, so that this night soon counts too."""


@dataclass(frozen=True, slots=True)
class Took:
    """The durations so far of the scenarios of one kind."""

    runs: int = 0
    expected_s: float = 0.0
    took_s: float = 0.0

    def __add__(self, other: Took) -> Took:
        return Took(self.runs + other.runs, self.expected_s + other.expected_s, self.took_s + other.took_s)

    @property
    def factor(self) -> float:
        """Seconds for each expected one."""
        return self.took_s / self.expected_s if self.expected_s else UNKNOWN

    def faded(self) -> Took:
        """The same in fewer scenarios, where there are many."""
        share = min(1.0, _REMEMBERED / self.runs) if self.runs else 0.0
        return Took(round(self.runs * share), self.expected_s * share, self.took_s * share)


History = Mapping[str, Took]
"""By kind of scenario."""


def kind_of(scenario: Scenario) -> str:
    """What of a scenario decides how far it takes longer than expected: where it runs, and what clients it has."""
    cluster = "own cluster" if scenario.needs_own_cluster else "shared cluster"
    clients = sorted(
        {f"{consumer.choice.kind.name} {consumer.api}" for consumer in scenario.consumers.values()}
    )
    orderly = any(consumer.listener == "orderly" for consumer in scenario.consumers.values())
    return ", ".join((cluster, *clients, *(["orderly"] if orderly else [])))


class Pace:
    """What earlier nights and this one tell. Safe between threads."""

    def __init__(self, before: History | None = None) -> None:
        """`before`: of earlier nights on such a machine."""
        self._before = {kind: took.faded() for kind, took in (before or {}).items()}
        self._seen: dict[str, Took] = {}
        self._lock = threading.Lock()

    def learn(self, kind: str, expected_s: float, took_s: float) -> None:
        """A scenario has ended."""
        with self._lock:
            self._seen[kind] = self._seen.get(kind, Took()) + Took(1, expected_s, took_s)

    @property
    def known(self) -> History:
        """All that is known by now, for the next night."""
        with self._lock:
            kinds = sorted({*self._before, *self._seen})
            return {kind: self._before.get(kind, Took()) + self._seen.get(kind, Took()) for kind in kinds}

    def factor(self, kind: str) -> float:
        """Seconds for each expected one, of a kind; of all, where too few of it are known."""
        return _factor(self.known, kind)

    def needs_s(self, kind: str, expected_s: float) -> float:
        """The time that must remain before a scenario of this kind may begin."""
        return expected_s * self.factor(kind) * SAFETY


def budget_s(history: History, kind: str, expected_s: float) -> float:
    """How long a scenario takes by earlier nights alone: the same on every machine that knows of the same."""
    return expected_s * _factor(history, kind)


def _factor(known: History, kind: str) -> float:
    own = known.get(kind, Took())
    return (own if own.runs >= ENOUGH else sum(known.values(), Took())).factor


def as_json(history: History) -> dict[str, Any]:
    """As the status file of a night has it."""
    return {
        kind: {"runs": took.runs, "expected_s": round(took.expected_s, 1), "took_s": round(took.took_s, 1)}
        for kind, took in history.items()
    }


def read_history(path: Path) -> History:
    """What the status file of an earlier night tells.

    Raises:
        UsageProblem: it can't be read, or tells nothing of the kind.
    """
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))["pace"]
        return {
            str(kind): Took(int(load["runs"]), float(load["expected_s"]), float(load["took_s"]))
            for kind, load in stored.items()
        }
    except (OSError, ValueError, OverflowError, KeyError, TypeError, AttributeError) as error:
        raise UsageProblem(
            f"{path} tells nothing of how long scenarios take: {type(error).__name__}: {error}",
            "Give the nightly-status.json of an earlier night.",
        ) from None
