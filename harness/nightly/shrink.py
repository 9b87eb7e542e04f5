"""The smallest scenario that still shows a finding: smaller ones are tried until none of them does.

Delta debugging after Zeller and Hildebrandt, by the reductions of `harness.nightly.reductions`: whatever smaller
one shows the finding is gone on from. What races shows it in some runs only, so each candidate is run several
times.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.nightly.document import Document, text_of
from harness.nightly.reductions import REDUCTIONS
from harness.spec import InvalidScenario, parse_scenario

PATIENCE = 4
"""So many times as often as asked for the original is run, until it shows the finding once."""

Shows = Callable[[Document], bool]
"""Runs a document once, and says whether the finding is there; what doesn't come to its end shows nothing."""


@dataclass(frozen=True, slots=True)
class Trust:
    """How often a document must show the finding, of so many runs."""

    needed: int
    of: int

    def holds(self, document: Document, shows: Shows) -> bool:
        """Run it until it is decided."""
        shown = 0
        for run in range(self.of):
            shown += shows(document)
            if shown >= self.needed:
                return True
            if shown + self.of - run - 1 < self.needed:
                return False
        return False


def trust_of(shown: int, of: int) -> Trust | None:
    """What is asked of smaller ones, where the original showed it so often; None: it never did.

    As often as the original, less one where it is one of those that race: a smaller one that shows it far less is
    another scenario.
    """
    if not shown:
        return None
    return Trust(max(1, shown - (1 if shown < of else 0)), of)


def measured(document: Document, shows: Shows, of: int) -> tuple[int, int]:
    """In how many runs the original shows it, and of how many: some more where none of the first does.

    What races, as whose subscription is stored, may show itself in one run of three.
    """
    shown = runs = 0
    while runs < of or (not shown and runs < PATIENCE * of):
        shown += shows(document)
        runs += 1
    return shown, runs


@dataclass(slots=True)
class Shrinking:
    """One search; `smallest` is what is known so far, whenever it is interrupted."""

    smallest: Document
    shows: Shows
    trust: Trust
    within_s: float = float("inf")
    told: Callable[[str], None] = lambda _text: None
    tried: set[str] = field(default_factory=set)
    accepted: list[str] = field(default_factory=list)
    """By which reductions it became smaller, in order."""
    _began: float = field(default_factory=time.monotonic)

    def run(self) -> Document:
        """Until no smaller one shows it, or the time is up; the smallest one that does."""
        self.tried.add(_shape(self.smallest))
        progress = True
        while progress and not self.is_late:
            progress = False
            for name in REDUCTIONS:
                while self._step(name):
                    progress = True
        return self.smallest

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() - self._began > self.within_s

    def _step(self, name: str) -> bool:
        """Go on from the first smaller one that shows it; whether there was any."""
        for candidate in REDUCTIONS[name](self.smallest):
            shape = _shape(candidate)
            if self.is_late or shape in self.tried or not is_valid(candidate):
                continue
            self.tried.add(shape)
            self.told(f"{len(self.tried)} tried, {len(self.accepted)} accepted; now fewer {name}")
            if self.trust.holds(candidate, self.shows):
                self.smallest = candidate
                self.accepted.append(name)
                return True
        return False


def is_valid(document: Document) -> bool:
    """Whether it can be meant as it stands."""
    try:
        parse_scenario(text_of(document), "candidate")
    except InvalidScenario:
        return False
    return True


def _shape(document: Document) -> str:
    """The same for documents that do the same."""
    return text_of(
        {key: document[key] for key in ("cluster", "topics", "consumers", "steps") if key in document}
    )
