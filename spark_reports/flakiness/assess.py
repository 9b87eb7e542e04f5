"""The statements about each cell: the verdict, and what its runs say in order of time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.flakiness.cells import Counts, Verdict, is_drawn, judge, share, verdict_of
from rocketchaos.spark_reports.flakiness.read import Block, Cause, Facts
from rocketchaos.spark_reports.statistics.change_points import ChangePoint, Split, best_splits, segment
from rocketchaos.spark_reports.statistics.multiple import benjamini_hochberg
from rocketchaos.spark_reports.statistics.trend import Trend, cochran_armitage

LEVEL = 0.05
"""The level of all tests, after correction for their number."""
SEED = 7
"""The seed of permutations: the same store gives the same report."""

_ORDER = tuple(Verdict)
Part = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Assessed:
    """One cell with all statements about it."""

    key: Cell
    counts: Counts
    verdict: Verdict
    """Over all its runs."""
    now: Verdict
    """Over its runs since the last change point; the same where there is none."""
    expected: Part | None
    """Share of runs that ended as expected, with its interval."""
    reproduced: Part | None
    """Share of the product's ends that are `reproduced`, with its interval."""
    blocks: Sequence[Block]
    changes: Sequence[ChangePoint]
    change_p: float | None
    """The p of any change, adjusted for the number of cells; None: too few runs, or all end alike."""
    trend: Trend
    """Its p is adjusted for the number of cells."""
    causes: Sequence[Cause]

    @property
    def drawn(self) -> bool:
        """Whether a night drew its scenario, which has no expectation: thousands are read together."""
        return is_drawn(self.key.scenario) and not self.counts.expecting

    @property
    def placed(self) -> int:
        """Runs with a certain place in time."""
        return sum(block.runs for block in self.blocks)

    @property
    def flips(self) -> int:
        """Runs that ended differently from the one before."""
        return sum(block.flips for block in self.blocks)

    @property
    def flip_rate(self) -> float | None:
        """Flips per pair of consecutive runs; None: there is no pair."""
        return self.flips / (self.placed - 1) if self.placed > 1 else None

    @property
    def flip_rate_by_chance(self) -> float | None:
        """The flip rate if the same ends came in random order: far fewer flips mean long stretches of either."""
        hits, runs = sum(block.hits for block in self.blocks), self.placed
        return 2 * hits * (runs - hits) / (runs * (runs - 1)) if runs > 1 else None

    @property
    def last_change(self) -> ChangePoint | None:
        """The newest."""
        return self.changes[-1] if self.changes else None

    @property
    def worse(self) -> bool:
        """Whether the last change was for the worse."""
        last = self.last_change
        return last is not None and last.after[0] * last.before[1] < last.before[0] * last.after[1]

    @property
    def recent(self) -> tuple[int, int]:
        """Hits and runs by which `now` is judged."""
        last = self.last_change
        return last.after if last else (self.counts.as_expected, self.counts.judged)


def assess(facts: Facts) -> list[Assessed]:
    """All cells, the one to look at first first."""
    rng = np.random.default_rng(SEED)
    keys = list(facts.counts)
    rows = {key: _rows(facts.blocks.get(key, ())) for key in keys}
    splits = dict(zip(keys, best_splits(list(rows.values()), rng, LEVEL), strict=True))
    trends = {key: cochran_armitage(*rows[key]) for key in keys}
    split_p = _adjusted({key: split.p for key, split in splits.items() if split})
    trend_p = _adjusted({key: item.p for key, item in trends.items() if item.direction})
    cells = []
    for key in keys:
        trend = Trend(trend_p.get(key, 1.0), trends[key].direction)
        cells.append(_assessed(key, facts, splits[key], split_p.get(key), trend, rng))
    return sorted(cells, key=_gravity)


def _assessed(
    key: Cell, facts: Facts, split: Split | None, p: float | None, trend: Trend, rng: np.random.Generator
) -> Assessed:
    counts, blocks = facts.counts[key], facts.blocks.get(key, [])
    changes: list[ChangePoint] = []
    if split is not None and p is not None and p <= LEVEL:
        changes = segment(*_rows(blocks), rng, LEVEL, first=split)
    verdict = verdict_of(counts)
    now = judge(*changes[-1].after) if changes and counts.judged else verdict
    return Assessed(
        key,
        counts,
        verdict,
        now,
        share(counts.as_expected, counts.judged),
        share(counts.reproduced, counts.product),
        blocks,
        changes,
        p,
        trend,
        facts.causes.get(key, ()),
    )


def _rows(blocks: Sequence[Block]) -> tuple[list[int], list[int]]:
    return [block.runs for block in blocks], [block.hits for block in blocks]


def _adjusted(p_values: Mapping[Cell, float]) -> Mapping[Cell, float]:
    return dict(zip(p_values, benjamini_hochberg(list(p_values.values())), strict=True))


def _gravity(cell: Assessed) -> tuple[bool, int, bool, float, Cell]:
    """By the present state; within that, cells that became worse first, then by how bad they surely are. Drawn
    scenarios are last.
    """
    recent = share(*cell.recent)
    return cell.drawn, _ORDER.index(cell.now), not cell.worse, recent[2] if recent else 1.0, cell.key
