"""The rank-sum test of two histograms, exact in spite of ties wherever that can be counted out.

`scipy.stats.mannwhitneyu` takes samples, not histograms of millions of runs, and is exact only without ties.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import gammaln
from scipy.stats import norm

from rocketchaos.spark_reports.statistics.exact import Significance

_ADDITIONS = 40_000_000
"""At most this many are made to count out a test, which takes some 50 ms. Beyond, both sides are so large that the
normal law is near."""
_QUICK_ADDITIONS = 4_000_000
_PERHAPS = 0.1
"""A test that takes more than the quick number is counted out only if p may be small: by the normal law at most
this."""
_STATES = 50_000
"""At most this many rank sums of few values are counted out."""
_FEW = 3
"""Up to this number of values there are few rank sums, of any number of runs."""


def rank_test(first: Mapping[float, int], second: Mapping[float, int]) -> Significance:
    """Whether two samples, given as value: number of runs, are of one distribution.

    F. Wilcoxon (1945), H. B. Mann and D. R. Whitney (1947), with mid-ranks; p is the share of all ways to deal the
    runs out to the two sides in which the rank sum is as far from its mean as seen. Where these are too many, or
    many and p is surely large, it comes from the normal law, with the correction for ties and for continuity.

    Raises:
        ValueError: a side has no runs.
    """
    sizes = sum(first.values()), sum(second.values())
    if not all(sizes):
        raise ValueError("a side without runs has no ranks")
    values = sorted(value for value in {*first, *second} if first.get(value, 0) + second.get(value, 0))
    ties = [first.get(value, 0) + second.get(value, 0) for value in values]
    if len(ties) == 1:
        return Significance(1.0, 1.0)
    ranks = _doubled_ranks(ties)
    # Both sides are as far from their means. The smaller one has fewer ways.
    smaller = first if sizes[0] <= sizes[1] else second
    mean = min(sizes) * (sum(sizes) + 1)
    seen = abs(sum(smaller.get(value, 0) * rank for value, rank in zip(values, ranks, strict=True)) - mean)
    near = _by_normal_law(seen, ties, *sizes)
    ways = _ways(ties, ranks, min(sizes), _ADDITIONS if near <= _PERHAPS else _QUICK_ADDITIONS)
    if ways is None:
        return Significance(near, 0.0, exact=False)
    away, chances = np.abs(ways[0] - mean), ways[1]
    p, smallest = (min(1.0, float(chances[away >= bound].sum())) for bound in (seen, away.max()))
    return Significance(p, smallest)


def _doubled_ranks(ties: Sequence[int]) -> list[int]:
    """Twice the mid-rank of each group of equal values: whole numbers, so that sums of them are exact."""
    before, ranks = 0, []
    for size in ties:
        ranks.append(2 * before + size + 1)
        before += size
    return ranks


def _ways(
    ties: Sequence[int], ranks: Sequence[int], size: int, additions: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """The rank sums that `size` of the runs can have, and how likely each is; None: too many to count out."""
    from_first = np.array(ranks) - ranks[0]
    unit = int(np.gcd.reduce(from_first))
    steps = from_first // unit
    most = _highest_sum(ties, steps.tolist(), size)
    if sum(min(tied, size) for tied in ties) * (size + 1) * (most + 1) <= additions:
        chances = _chances(ties, steps.tolist(), size, most)
        possible = np.flatnonzero(chances)
        return size * ranks[0] + unit * possible, chances[possible]
    return _ways_of_few(ties, ranks, size) if len(ties) <= _FEW else None


def _highest_sum(ties: Sequence[int], steps: Sequence[int], size: int) -> int:
    """Of the steps of `size` runs: those with the highest values."""
    most, rest = 0, size
    for tied, step in zip(reversed(ties), reversed(steps), strict=True):
        most += min(tied, rest) * step
        rest -= min(tied, rest)
    return most


def _chances(ties: Sequence[int], steps: Sequence[int], size: int, most: int) -> np.ndarray:
    """How likely each sum of steps, from 0 to `most`, is for `size` of the runs.

    Each run is taken by a coin, with the chance at which `size` of them are the usual number. Of the outcomes in
    which exactly `size` are taken, all ways are alike. So no number of ways, which may be huge, is needed.
    """
    coin = size / sum(ties)
    chances = np.zeros((size + 1, most + 1))
    chances[0, 0] = 1.0
    for tied, step in zip(ties, steps, strict=True):
        some = np.arange(min(tied, size) + 1)
        weights = np.exp(_log_choices(tied, some) + some * math.log(coin) + (tied - some) * math.log1p(-coin))
        with_it = chances * weights[0]
        for taken, weight in enumerate(weights[1:].tolist(), start=1):
            if taken * step > most:
                break
            with_it[taken:, taken * step :] += weight * chances[:-taken, : most + 1 - taken * step]
        chances = with_it
    last: np.ndarray = chances[size] / chances[size].sum()
    return last


def _ways_of_few(
    ties: Sequence[int], ranks: Sequence[int], size: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """As `_ways`, where there are few values with very many runs each."""
    *groups, (most, last_rank) = sorted(zip(ties, ranks, strict=True))
    taken, sums, logs = np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1)
    for tied, rank in groups:
        if len(taken) * (min(tied, size) + 1) > 20 * _STATES:
            return None
        some = np.arange(min(tied, size) + 1)
        taken, sums, logs = (
            np.add.outer(old, new).ravel()
            for old, new in ((taken, some), (sums, some * rank), (logs, _log_choices(tied, some)))
        )
        taken, sums, logs = _merged(*(part[taken <= size] for part in (taken, sums, logs)))
        if len(taken) > _STATES:
            return None
    rest = size - taken
    fits = rest <= most
    logs = logs[fits] + _log_choices(most, rest[fits]) - _log_choices(sum(ties), np.array([size]))
    return sums[fits] + rest[fits] * last_rank, np.exp(logs)


def _merged(
    taken: np.ndarray, sums: np.ndarray, logs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same with one entry for each pair of number and sum."""
    order = np.lexsort((sums, taken))
    taken, sums, logs = taken[order], sums[order], logs[order]
    new = np.r_[True, (np.diff(taken) != 0) | (np.diff(sums) != 0)]
    starts = np.flatnonzero(new)
    return taken[starts], sums[starts], np.logaddexp.reduceat(logs, starts)


def _log_choices(of: int, some: np.ndarray) -> np.ndarray:
    logs: np.ndarray = gammaln(of + 1) - gammaln(some + 1) - gammaln(of - some + 1)
    return logs


def _by_normal_law(seen: float, ties: Sequence[int], number: int, other: int) -> float:
    total = number + other
    correction = sum(size**3 - size for size in ties) / (total * (total - 1))
    # Ranks are doubled here, and with them the half rank of the correction for continuity.
    deviation = 2 * math.sqrt(number * other / 12 * (total + 1 - correction))
    return min(1.0, float(2 * norm.sf(max(0.0, seen - 1) / deviation)))
