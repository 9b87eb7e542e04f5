"""Pairs of cells, compared class by class, and by how their runs ended. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from math import comb

from rocketchaos.harness.core.model import MessageClass, OutcomeKind
from rocketchaos.spark_reports.divergence.cells import Pair, pairs
from rocketchaos.spark_reports.divergence.read import Facts, Fates
from rocketchaos.spark_reports.statistics.bounded_mean import bounded_difference, mean
from rocketchaos.spark_reports.statistics.cliffs_delta import cliffs_delta
from rocketchaos.spark_reports.statistics.differences import newcombe_difference
from rocketchaos.spark_reports.statistics.exact import ROUNDING, Significance
from rocketchaos.spark_reports.statistics.fisher import fisher
from rocketchaos.spark_reports.statistics.interval import Interval
from rocketchaos.spark_reports.statistics.rank_sum import rank_test
from rocketchaos.spark_reports.statistics.tarone import FAMILY_WISE, tarone_holm


class Verdict(StrEnum):
    """The result of a comparison."""

    DIVERGES = "diverges"
    EXACT = "exact in these runs"
    TOO_FEW = "too few to tell"
    OPEN = "not shown to differ"
    ALIKE = "no difference seen"


@dataclass(frozen=True, slots=True)
class Compared:
    """One thing of two cells. `sides`, the means, and `difference`, first minus second, are shares of a run's
    messages, or of the runs where it is the outcome; `messages` is what they are shares of where all runs have as
    many."""

    pair: Pair
    what: str
    """A MessageClass, or an OutcomeKind."""
    runs: tuple[int, int]
    sides: tuple[float, float]
    difference: Interval
    delta: Interval | None
    """Cliff's; None for outcomes."""
    test: Significance
    messages: int | None = None
    exact: bool = False
    """All runs of a side are alike, and the sides are not."""

    def turned(self) -> Compared:
        """The same the other way round."""
        return replace(
            self,
            pair=self.pair.turned(),
            runs=self.runs[::-1],
            sides=self.sides[::-1],
            difference=self.difference.negated(),
            delta=self.delta and self.delta.negated(),
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """A comparison among all others of the report."""

    compared: Compared
    p_corrected: float
    verdict: Verdict
    settling_runs: int | None
    """How many runs of each side are enough for a claim about all runs, if all of a side are alike; otherwise the
    minimum. None where the runs that are there say enough."""

    @property
    def of_messages(self) -> bool:
        """Otherwise it is of outcomes."""
        return self.compared.delta is not None

    @property
    def differs(self) -> bool:
        """Whether there is any difference, shown or not."""
        return self.compared.difference.point != 0

    @property
    def gravity(self) -> tuple[bool, bool, float, float]:
        """Sorts the worst first; messages whose fate is unknown are no difference of the product."""
        compared = self.compared
        return (
            self.verdict is not Verdict.DIVERGES,
            compared.what == MessageClass.UNDETERMINED,
            -abs(compared.difference.point),
            self.p_corrected,
        )


def compare(facts: Facts) -> list[Judged]:
    """All comparisons, corrected together, the worst first."""
    compared = [item for pair in pairs(facts.endings) for item in _compared(pair, facts)]
    corrected = tarone_holm([item.test for item in compared])
    attainable = sorted(item.test.smallest for item in compared)
    settling = settling_runs(sum(item.difference.point != 0 or item.test.smallest < 1 for item in compared))
    return sorted(
        (_judged(item, p, attainable, settling) for item, p in zip(compared, corrected, strict=True)),
        key=lambda judged: (judged.gravity, judged.compared.pair, judged.compared.what),
    )


def _compared(pair: Pair, facts: Facts) -> Iterator[Compared]:
    if not (facts.runs(pair.first) and facts.runs(pair.second)):
        return
    yield _outcomes(pair, facts)
    first, second = facts.fates.get(pair.first), facts.fates.get(pair.second)
    if first and second:
        for kind in MessageClass:
            if first.total(kind) or second.total(kind):
                yield _messages(pair, kind, first, second)


def _outcomes(pair: Pair, facts: Facts) -> Compared:
    sides = [(facts.runs(cell, OutcomeKind.REPRODUCED), facts.runs(cell)) for cell in pair[:2]]
    (hits, of), (others, other_of) = sides
    return Compared(
        pair,
        OutcomeKind.REPRODUCED,
        (of, other_of),
        (hits / of, others / other_of),
        newcombe_difference(hits, of, others, other_of),
        None,
        fisher(hits, of, others, other_of),
        exact=hits * other_of != others * of and hits in (0, of) and others in (0, other_of),
    )


def _messages(pair: Pair, kind: MessageClass, first: Fates, second: Fates) -> Compared:
    item, other = first.shares(kind), second.shares(kind)
    lengths = first.lengths | second.lengths
    return Compared(
        pair,
        kind,
        (first.runs, second.runs),
        (mean(item), mean(other)),
        bounded_difference(item, other),
        cliffs_delta(item, other),
        rank_test(item, other),
        lengths.pop() if len(lengths) == 1 else None,
        len(item) == len(other) == 1 and item.keys() != other.keys(),
    )


def settling_runs(rivals: int) -> int:
    """How many equal runs each side needs among this many comparisons, whatever the others show."""
    return next(runs for runs in count(1) if 2 / comb(2 * runs, runs) * max(1, rivals) <= FAMILY_WISE)


def _judged(compared: Compared, p: float, attainable: Sequence[float], settling: int) -> Judged:
    verdict = _verdict(compared, p, attainable)
    few = verdict in (Verdict.EXACT, Verdict.TOO_FEW)
    return Judged(compared, p, verdict, max(settling, *compared.runs) if few else None)


def _verdict(compared: Compared, p: float, attainable: Sequence[float]) -> Verdict:
    if p <= FAMILY_WISE:
        return Verdict.DIVERGES
    if compared.test.smallest == 1 and compared.difference.point == 0:
        return Verdict.ALIKE
    # As small as p could be if no run of one side were as any of the other.
    best = 2 / comb(sum(compared.runs), compared.runs[0]) if sum(compared.runs) < 200 else 0.0
    rivals = max(1, bisect_right(attainable, best * ROUNDING))
    if best * rivals <= FAMILY_WISE:
        return Verdict.OPEN
    return Verdict.EXACT if compared.exact else Verdict.TOO_FEW
