"""Measured against expected: of each cell, how many runs ended as the scenario says. Pure."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from rocketchaos.harness.core.intervals import wilson_interval
from rocketchaos.harness.core.text import counted
from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.divergence.read import Ending, Facts
from rocketchaos.spark_reports.divergence.words import bracket
from rocketchaos.spark_reports.run_names import named_run
from rocketchaos.spark_reports.statistics.interval import Interval


class Expectation(StrEnum):
    """Whether a cell ends as expected."""

    MISSED = "not as expected"
    MET = "as expected"
    MEASURED = "only measured"
    NOTHING = "no run counts"


@dataclass(frozen=True, slots=True)
class Held:
    """The runs of a cell that have the same expectation."""

    cell: Cell
    expected: str | None
    """None: nothing; the outcomes are a distribution."""
    outcomes: Counter[str]
    """The outcomes of runs that ended by the product's behaviour."""
    missed: int
    """Runs not as expected: another outcome, or one of the further checks did not hold."""
    also: int
    """Those of them that had the expected outcome."""
    left_out: Counter[str]
    """The others, by their trouble."""
    example: str | None
    """A run that is not as expected; where there is none, of the most frequent outcome."""
    reason: str | None
    """The reason of that run."""

    @property
    def runs(self) -> int:
        """Runs that the product ended."""
        return self.outcomes.total()

    @property
    def expectation(self) -> Expectation:
        """Whether it is as expected."""
        if not self.runs:
            return Expectation.NOTHING
        if self.expected is None:
            return Expectation.MEASURED
        return Expectation.MISSED if self.missed else Expectation.MET

    @property
    def share(self) -> Interval | None:
        """Of the runs that are not as expected, with Wilson's interval; None where there is nothing to say."""
        if self.expected is None or not self.runs:
            return None
        return Interval(self.missed / self.runs, *wilson_interval(self.missed, self.runs))


def held_against(facts: Facts) -> list[Held]:
    """All cells, those that are not as expected first, the largest share of them on top."""
    return sorted((item for cell in facts.endings for item in _of_cell(cell, facts)), key=_gravity)


def _gravity(held: Held) -> tuple[int, float, Cell, str]:
    share = held.share.point if held.share else 0.0
    return list(Expectation).index(held.expectation), -share, held.cell, held.expected or ""


def _of_cell(cell: Cell, facts: Facts) -> Iterator[Held]:
    ends = facts.endings[cell]
    for expected in sorted({end.expected for end in ends}, key=str):
        own = [end for end in ends if end.expected == expected]
        counting = [end for end in own if end.counts]
        wrong = [end for end in counting if end.as_expected is False]
        shown = max(wrong or counting or own, key=lambda end: end.runs)
        yield Held(
            cell,
            expected,
            _runs({end.outcome: 0 for end in counting}, counting, "outcome"),
            sum(end.runs for end in wrong),
            sum(end.runs for end in wrong if end.outcome == expected),
            _runs({}, [end for end in own if not end.counts], "trouble"),
            shown.example,
            shown.reason,
        )


def _runs(start: dict[str, int], ends: list[Ending], by: str) -> Counter[str]:
    counts = Counter(start)
    for end in ends:
        counts[getattr(end, by) or end.outcome] += end.runs
    return counts


def missed_sentence(held: Held) -> str:
    """`… : reproduced is expected, but 3 of 20 runs are otherwise (not-reproduced 3; share 0.15 [0.05, 0.36])`."""
    other = ", ".join(
        f"{outcome} {runs:,}" for outcome, runs in held.outcomes.most_common() if outcome != held.expected
    )
    parts = [other] if other else []
    if held.also:
        parts.append(f"a check of `also` does not hold in {held.also:,}")
    share = f"share {bracket(held.share, 2)}" if held.share else ""
    return (
        f"{held.cell.scenario} ({held.cell.label}): {held.expected} is expected, but {held.missed:,} of "
        f"{counted(held.runs, 'run')} {'is' if held.missed == 1 else 'are'} not as expected "
        f"({'; '.join([*parts, share])}); for example {named_run(held.example)}"
    )
