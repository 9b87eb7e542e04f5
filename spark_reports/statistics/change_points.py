"""Where in a row of runs the share of hits changed: binary segmentation with a likelihood ratio.

A. J. Scott, M. Knott, A cluster analysis method for grouping means (1974); for one change in a binomial sequence
D. V. Hinkley, E. A. Hinkley (1970). The p-value is not an approximation: see `best_split`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

Floats = NDArray[np.float64]

LEAST_RUNS = 5
"""A stretch between two changes has at least this many runs: fewer are an incident, not a new state."""
PERMUTATIONS = 9999
_FINEST = 1 / (PERMUTATIONS + 1)
_FIRST_LOOK = 200
_ENOUGH_ABOVE = 20
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Split:
    """The best place to cut a row of blocks in two."""

    at: int
    """The first block after it."""
    statistic: float
    """Twice the logarithm of the likelihood ratio."""
    p: float
    """Chance of at least such a statistic, anywhere in the row, where nothing changed."""


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change of the share of hits."""

    at: int
    """The first block after it."""
    before: tuple[int, int]
    """Hits and runs from the change before, or the beginning, up to here."""
    after: tuple[int, int]
    """Hits and runs up to the next change, or the end."""
    p: float


def _likelihood(hits: Floats, runs: Floats) -> Floats:
    """Logarithm of the greatest likelihood of this many hits, without the binomial coefficient."""
    value: Floats = xlogy(hits, hits / runs) + xlogy(runs - hits, (runs - hits) / runs)
    return value


def _ratios(hits_before: Floats, runs_before: Floats, hits: float, runs: float) -> Floats:
    """Twice the log likelihood ratio of a change there against none."""
    whole = float(_likelihood(np.array([hits]), np.array([runs]))[0])
    parts = _likelihood(hits_before, runs_before) + _likelihood(hits - hits_before, runs - runs_before)
    return 2 * (parts - whole)


def best_split(
    runs: Sequence[int], hits: Sequence[int], rng: np.random.Generator, least: int = LEAST_RUNS
) -> Split | None:
    """Where a row of blocks is best cut in two, and how often chance cuts one as well; None: it is too short.

    The p-value is conditional on the number of hits, so that it needs no model of the rate. Where every block is
    one run, it is exact: the share of all orders of these hits and misses that have such a cut, path by path.
    Otherwise blocks are permuted whole, which holds where runs close in time are alike, too: 9999 times, or fewer
    where that already shows that it is nothing (J. Besag, P. Clifford, Sequential Monte Carlo p-values, 1991).
    """
    sizes, good = np.asarray(runs, dtype=float), np.asarray(hits, dtype=float)
    total, all_hits = float(sizes.sum()), float(good.sum())
    places = _places(sizes, least)
    if not places.any() or all_hits in (0.0, total):
        return None
    ratios = np.full(len(places), -np.inf)
    ratios[places] = _ratios(np.cumsum(good)[:-1][places], np.cumsum(sizes)[:-1][places], all_hits, total)
    best = int(np.argmax(ratios))
    statistic = float(ratios[best])
    if _is_of_single_runs(runs):
        p = _exact(int(total), int(all_hits), statistic, least)
    else:
        p = _permuted(sizes, good, statistic, least, rng)
    return Split(best + 1, statistic, p)


def best_splits(
    rows: Sequence[tuple[Sequence[int], Sequence[int]]], rng: np.random.Generator, level: float
) -> list[Split | None]:
    """The best split of each row, with p-values fine enough to stand at this level after Benjamini and Hochberg.

    No p-value of `PERMUTATIONS` is less than 1 in 10,000: too much for a single change in more than 500 rows.
    Where that is so, the rows whose cut no permutation came up to are permuted again, and so often that they can
    stand, if they have that number of orders. All together that is 20 times for each row, however many. The
    new p-value counts alone, so that choosing rows by the old one makes none too small.
    """
    splits = [best_split(runs, hits, rng) for runs, hits in rows]
    tested = sum(split is not None for split in splits)
    unmatched = [
        (place, split)
        for place, split in enumerate(splits)
        if split is not None and split.p <= _FINEST and not _is_of_single_runs(rows[place][0])
    ]
    if unmatched and _FINEST * tested > level * len(unmatched):
        often = math.ceil(tested / (level * len(unmatched)))
        for place, split in unmatched:
            sizes, good = (np.asarray(counts, dtype=float) for counts in rows[place])
            splits[place] = replace(split, p=_permuted(sizes, good, split.statistic, LEAST_RUNS, rng, often))
    return splits


def _is_of_single_runs(runs: Sequence[int]) -> bool:
    return sum(runs) == len(runs)


def _places(sizes: Floats, least: int) -> NDArray[np.bool_]:
    before = np.cumsum(sizes)[..., :-1]
    allowed: NDArray[np.bool_] = (before >= least) & (sizes.sum() - before >= least)
    return allowed


def _exact(total: int, all_hits: int, statistic: float, least: int) -> float:
    """Share of the orders of hits and misses in which some cut is at least that good.

    An order is a path over (runs so far, hits so far); those that never meet a cut as good are counted, as shares
    of all, by the chances of an urn without replacement.
    """
    rarer = min(all_hits, total - all_hits)
    so_far = np.arange(rarer + 1, dtype=float)
    chance = np.zeros(rarer + 1)
    chance[0] = 1.0
    for drawn in range(total):
        left = total - drawn
        rare = np.clip((rarer - so_far) / left, 0.0, 1.0)
        moved = chance * (1 - rare)
        moved[1:] += chance[:-1] * rare[:-1]
        chance = moved
        now = drawn + 1
        if least <= now <= total - least:
            possible = (so_far <= now) & (rarer - so_far <= total - now)
            ratios = np.full(rarer + 1, -np.inf)
            ratios[possible] = _ratios(
                so_far[possible], np.full(int(possible.sum()), float(now)), float(rarer), float(total)
            )
            chance[ratios >= statistic - _ROUNDING] = 0.0
    return float(min(1.0, max(0.0, 1.0 - chance.sum())))


def _permuted(
    sizes: Floats,
    good: Floats,
    statistic: float,
    least: int,
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> float:
    above = drawn = 0
    while drawn < permutations:
        count = min(_FIRST_LOOK if drawn == 0 else 1000, permutations - drawn)
        order = rng.permuted(np.tile(np.arange(len(sizes)), (count, 1)), axis=1)
        runs_before, hits_before = np.cumsum(sizes[order], axis=1), np.cumsum(good[order], axis=1)
        total, all_hits = runs_before[0, -1], hits_before[0, -1]
        allowed = (runs_before >= least) & (total - runs_before >= least)
        allowed[:, -1] = False
        ratios = np.full(order.shape, -np.inf)
        ratios[allowed] = _ratios(hits_before[allowed], runs_before[allowed], all_hits, total)
        above += int((ratios.max(axis=1) >= statistic - _ROUNDING).sum())
        drawn += count
        if above >= _ENOUGH_ABOVE:
            break
    return (above + 1) / (drawn + 1)


def segment(
    runs: Sequence[int],
    hits: Sequence[int],
    rng: np.random.Generator,
    level: float = 0.05,
    least: int = LEAST_RUNS,
    first: Split | None = None,
) -> list[ChangePoint]:
    """All changes, in order: the row is cut where the best cut has p <= level, and then each part likewise.

    Args:
        first: the best split of the whole row where it is known, and was found good for reasons of the caller's.
    """
    cuts: dict[int, float] = {}

    def search(begin: int, end: int, allowed: float, known: Split | None = None) -> None:
        split = known or best_split(runs[begin:end], hits[begin:end], rng, least)
        if split is None or (known is None and split.p > allowed):
            return
        cuts[begin + split.at] = split.p
        # Each part gets half, so that one true change brings false ones in its train no more often than stated.
        search(begin, begin + split.at, allowed / 2)
        search(begin + split.at, end, allowed / 2)

    search(0, len(runs), level, first)
    edges = [0, *sorted(cuts), len(runs)]
    counts = [(sum(hits[a:b]), sum(runs[a:b])) for a, b in pairwise(edges)]
    return [
        ChangePoint(at, before, after, cuts[at])
        for at, (before, after) in zip(edges[1:-1], pairwise(counts), strict=True)
    ]
