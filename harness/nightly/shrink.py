"""The smallest scenario that still shows a finding: smaller ones are tried until none of them does.

Delta debugging after Zeller and Hildebrandt, by the reductions of `harness.nightly.reductions`: whatever smaller
one shows the finding is gone on from. What races shows it in some runs only, so each candidate is run several
times.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from rocketchaos.harness.nightly.document import WHAT_RUNS, Document, text_of
from rocketchaos.harness.nightly.reductions import REDUCTIONS
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario

PATIENCE = 4
"""A race is run this many times as often as asked, until it has shown itself often enough."""
TWICE = 2
"""A scenario that showed a finding once in a few runs may show it in most, or in hardly any."""

Shows = Callable[[Document], bool]
"""Runs a document once, and says whether the finding is there; what doesn't come to its end shows nothing.

Raises `TimeIsUp` where the time is up before it knows.
"""


class TimeIsUp(Exception):
    """The search is to end with what it has."""


@dataclass(frozen=True, slots=True)
class Trust:
    """How often a document must show the finding, of how many runs."""

    needed: int
    of: int

    def is_shaken(self, shown: int, of: int) -> bool:
        """Whether a document that was trusted shows it in less than half as many of further runs."""
        return shown * self.of * 2 < self.needed * of

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

    As often as the original, and less one where it races and showed it more than twice: a smaller one that shows
    it far less is another scenario, and of many candidates with few runs each some would show it by luck.
    """
    if not shown:
        return None
    return Trust(shown - 1 if TWICE < shown < of else shown, of)


def measured(document: Document, shows: Shows, of: int, patience: int = PATIENCE) -> tuple[int, int]:
    """In how many runs a document shows it, and of how many. If too few of the first runs show it, it runs more.

    A race, such as whose subscription is stored, may show in one run of three. It stops early if the time is up.

    Args:
        document: what is run.
        shows: runs it once.
        of: at least this many runs.
        patience: it stops after `patience * of` runs in which the finding never shows.
    """
    shown = runs = 0
    with suppress(TimeIsUp):
        while runs < of or (shown < min(TWICE, of) and runs < (PATIENCE if shown else patience) * of):
            shown += shows(document)
            runs += 1
    return shown, runs


@dataclass(slots=True)
class Shrinking:
    """One search; `smallest` is what is known so far, whenever it is interrupted."""

    smallest: Document
    shows: Shows
    trust: Trust
    is_late: Callable[[], bool] = lambda: False
    """Whether no further run of a candidate is to begin."""
    progress: Callable[[str], None] = lambda _text: None
    tried: set[str] = field(default_factory=set)
    accepted: list[str] = field(default_factory=list)
    """By which reductions it became smaller, in order."""
    before: list[Document] = field(default_factory=list)
    """The scenario before each of them."""
    given_up: int = 0
    """How many of them were taken back."""
    in_time: bool = True
    """Whether it ended because nothing smaller was left, and not because the time was up."""

    def run(self) -> Document:
        """Until no smaller one shows it, or the time is up; the smallest one that does."""
        self.tried.add(_shape(self.smallest))
        try:
            while sum(self._fewer(name) for name in REDUCTIONS):
                pass
        except TimeIsUp:
            self.in_time = False
        return self.smallest

    def back(self) -> bool:
        """Give the smallest one up for the one before it; False: it is the original."""
        if not self.before:
            return False
        self.smallest = self.before.pop()
        self.accepted.pop()
        self.given_up += 1
        return True

    def _fewer(self, name: str) -> int:
        """As few as there can be; how often it has become smaller."""
        before = len(self.accepted)
        while self._step(name):
            pass
        return len(self.accepted) - before

    def _step(self, name: str) -> bool:
        """Go on from the first smaller one that shows it; whether there was any."""
        for candidate in REDUCTIONS[name](self.smallest):
            shape = _shape(candidate)
            if shape in self.tried or not is_valid(candidate):
                continue
            self.tried.add(shape)
            self.progress(f"{len(self.tried)} tried, {len(self.accepted)} accepted; now fewer {name}")
            if self.trust.holds(candidate, self._shows_in_time):
                self.before.append(self.smallest)
                self.smallest = candidate
                self.accepted.append(name)
                return True
        return False

    def _shows_in_time(self, document: Document) -> bool:
        if self.is_late():
            raise TimeIsUp
        return self.shows(document)


def is_valid(document: Document) -> bool:
    """Whether it is a valid scenario."""
    try:
        parse_scenario(text_of(document), "candidate")
    except InvalidScenario:
        return False
    return True


def _shape(document: Document) -> str:
    """The same for documents that do the same."""
    return text_of({key: document[key] for key in WHAT_RUNS if key in document})
