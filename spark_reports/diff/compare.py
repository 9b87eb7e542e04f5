"""What became better or worse from one side to the other. Pure.

Cells, claims, causes and times are four families of tests, each corrected by itself: what became of one cell shows
in all four, and would else hide itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, NamedTuple

from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.diff.pairs import Pair, pairs
from rocketchaos.spark_reports.diff.read import CauseSeen, Facts, Share, Took
from rocketchaos.spark_reports.divergence.compare import settling_runs
from rocketchaos.spark_reports.statistics.cliffs_delta import cliffs_delta
from rocketchaos.spark_reports.statistics.differences import newcombe_difference
from rocketchaos.spark_reports.statistics.exact import Significance
from rocketchaos.spark_reports.statistics.fisher import fisher
from rocketchaos.spark_reports.statistics.interval import Interval
from rocketchaos.spark_reports.statistics.rank_sum import rank_test
from rocketchaos.spark_reports.statistics.tarone import FAMILY_WISE, tarone_holm

Verdict = Literal["worse", "perhaps worse", "not worse", "nothing compared"]


class State(IntEnum):
    """How the runs of a side end; the worse, the lower."""

    NEVER = 0
    SOMETIMES = 1
    ALWAYS = 2

    @classmethod
    def of(cls, share: Share) -> State:
        """Of at least one run."""
        return cls.ALWAYS if share.hits == share.of else cls.SOMETIMES if share.hits else cls.NEVER


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a cell, or of a claim in a cell: by runs as expected, or in which the claim held."""

    pair: Pair
    before: Share
    after: Share
    difference: Interval
    """After minus before."""
    p: float
    """Corrected over all cells, or all claims."""
    claim: str | None = None

    @property
    def sure(self) -> bool:
        """Whether it goes beyond chance."""
        return self.p <= FAMILY_WISE

    @property
    def worse(self) -> bool:
        """Otherwise it is better."""
        return self.difference.point < 0

    @property
    def states(self) -> tuple[State, State]:
        """Before and after."""
        return State.of(self.before), State.of(self.after)

    @property
    def source(self) -> str | None:
        """A run of the later side that shows it."""
        return (self.after.miss if self.worse else self.after.hit) or self.after.hit or self.after.miss

    @property
    def gravity(self) -> tuple[bool, bool, State, float, float]:
        """Sorts what is worse first, the surest of it first."""
        return not self.worse, not self.sure, self.states[1], self.difference.point, self.p


@dataclass(frozen=True, slots=True)
class CauseChange:
    """A cause that only one side has."""

    cause: CauseSeen
    difference: Interval | None
    """Of the share of runs that have it, after minus before; None: a side has no runs of its scenarios."""
    p: float

    @property
    def gravity(self) -> tuple[bool, bool, bool, bool, int, str]:
        """Sorts new ones first, the surest of the product's first; lines of logs say less than checks."""
        cause = self.cause
        runs = max(cause.before.hits, cause.after.hits)
        return (
            not self.new,
            cause.side != "product",
            cause.kind == "log",
            not self.sure,
            -runs,
            cause.signature,
        )

    @property
    def new(self) -> bool:
        """Otherwise it is gone."""
        return self.cause.after.hits > 0

    @property
    def sure(self) -> bool:
        """Whether it goes beyond chance."""
        return self.p <= FAMILY_WISE


@dataclass(frozen=True, slots=True)
class TimingChange:
    """A duration that has changed for sure."""

    what: str
    pair: Pair
    before: Took
    after: Took
    delta: Interval
    """Cliff's: from -1, always faster now, to 1, always slower."""
    p: float

    @property
    def gravity(self) -> tuple[bool, float, float, str, Cell]:
        """Sorts slower ones first, the farthest of them first."""
        return not self.slower, -abs(self.delta.point), self.p, self.what, self.pair.cell

    @property
    def slower(self) -> bool:
        """Otherwise it is faster."""
        return self.delta.point > 0

    @property
    def source(self) -> str | None:
        """A run of the later side: the slowest if it is slower, otherwise the fastest."""
        end = max if self.slower else min
        return self.after.sources.get(end(self.after.sources))


@dataclass(frozen=True, slots=True)
class News:
    """All changes."""

    runs: tuple[int, int]
    """Before and after."""
    compared: int
    """Cells with judged runs on both sides."""
    cells: Sequence[Change]
    claims: Sequence[Change]
    causes: Sequence[CauseChange]
    timing: Sequence[TimingChange]
    one_sided: Sequence[tuple[Pair, Share]]
    """Cells that only one side has runs of."""
    settling: int
    """How many runs of each side, all alike, would make any change of a cell sure."""

    @property
    def verdict(self) -> Verdict:
        """Whether a cell or a claim is worse. Causes say why, and times depend on the machine."""
        worse = [change for change in (*self.cells, *self.claims) if change.worse]
        if any(change.sure for change in worse):
            return "worse"
        if worse:
            return "perhaps worse"
        return "not worse" if self.compared else "nothing compared"


def compare(facts: Facts) -> News:
    """Hold the sides against each other."""
    paired = pairs(*facts.cells)
    both = [(pair.before, pair.after, pair) for pair in paired if pair.before and pair.after]
    cells = [
        _Shares(None, pair, facts.cells[0][before], facts.cells[1][after])
        for before, after, pair in both
        if facts.cells[0][before].of and facts.cells[1][after].of
    ]
    claims = [
        _Shares(claim, pair, old[before], new[after])
        for claim, (old, new) in facts.claims.items()
        for before, after, pair in both
        if before in old and after in new
    ]
    took = [
        (what, pair, old[before], new[after])
        for what, (old, new) in facts.timing.items()
        for before, after, pair in both
        if before in old and after in new
    ]
    tests = [_fisher(item.before, item.after) for item in cells]
    return News(
        _runs(facts),
        len(cells),
        _changes(cells, tests),
        _changes(claims, [_fisher(item.before, item.after) for item in claims]),
        _causes(facts.causes),
        _moved(took),
        [
            (pair, facts.cells[0][pair.before] if pair.before else facts.cells[1][pair.cell])
            for pair in paired
            if not (pair.before and pair.after)
        ],
        settling_runs(sum(test.smallest < 1 for test in tests)),
    )


class _Shares(NamedTuple):
    claim: str | None
    pair: Pair
    before: Share
    after: Share


def _changes(shares: Sequence[_Shares], tests: Sequence[Significance]) -> list[Change]:
    """Changes that are sure, and changes that are news but may be chance."""
    changes = [
        Change(item.pair, item.before, item.after, _difference(item.before, item.after), p, item.claim)
        for item, p in zip(shares, tarone_holm(tests), strict=True)
    ]
    found = [item for item in changes if item.sure or _is_news(item)]
    return sorted(found, key=lambda item: (*item.gravity, item.pair.cell, item.claim or ""))


def _is_news(change: Change) -> bool:
    """Whether it is, though it may be chance: a few good runs of what failed at times are none."""
    before, after = change.states
    return before is not after and (change.worse or before is State.NEVER)


def _causes(causes: Sequence[CauseSeen]) -> list[CauseChange]:
    """Causes that only one side has; causes of both sides count as tests of the family too."""
    chances = tarone_holm([_fisher(cause.before, cause.after) for cause in causes])
    changes = [
        CauseChange(
            cause, _difference(cause.before, cause.after) if cause.before.of and cause.after.of else None, p
        )
        for cause, p in zip(causes, chances, strict=True)
        if not (cause.before.hits and cause.after.hits) and cause.comparable
    ]
    return sorted(changes, key=lambda item: item.gravity)


def _moved(took: Sequence[tuple[str, Pair, Took, Took]]) -> list[TimingChange]:
    """Durations that have changed for sure."""
    chances = tarone_holm([rank_test(after.histogram, before.histogram) for _, _, before, after in took])
    changes = [
        TimingChange(what, pair, before, after, cliffs_delta(after.histogram, before.histogram), p)
        for (what, pair, before, after), p in zip(took, chances, strict=True)
        if p <= FAMILY_WISE
    ]
    return sorted(changes, key=lambda item: item.gravity)


def _difference(before: Share, after: Share) -> Interval:
    """After minus before."""
    return newcombe_difference(after.hits, after.of, before.hits, before.of)


def _runs(facts: Facts) -> tuple[int, int]:
    before, after = (sum(share.runs for share in side.values()) for side in facts.cells)
    return before, after


def _fisher(before: Share, after: Share) -> Significance:
    if not before.of or not after.of:
        return Significance(1.0, 1.0)
    return fisher(after.hits, after.of, before.hits, before.of)
