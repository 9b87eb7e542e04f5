"""The mean of a number with known bounds, as messages of a run: intervals that few and equal runs don't fool."""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocketchaos.spark_reports.statistics.interval import Interval

_DRAWS = 20_000
_TAIL = (1 - 0.95) / 2
_SEED = 20_261_121
"""The draws are always the same: a report made again says the same."""

_Shares = tuple[tuple[float, int], ...]
"""Value as a share of the highest, and its runs, ascending."""


def bounded_mean(counts: Mapping[float, int], highest: float = 1.0) -> Interval:
    """The mean of runs whose values lie between 0 and `highest`, with an equal-tailed interval.

    `counts` has the number of runs for each value. `highest` is what a run can have, not what any has had: what no
    run has shown yet may still come. Each limit is the quantile of a Bayesian bootstrap with one run more at the
    bound of its side (N. Gaffke, Three test statistics for a nonparametric one-sided hypothesis on the mean of
    a nonnegative variable, 2005; E. Learned-Miller, P. S. Thomas, A new confidence interval for the mean of a
    bounded random variable, 2019, who found no distribution for which it covers less than stated, and conjecture
    that there is none). Where all values are at the bounds it is the interval of C. J. Clopper and E. S. Pearson
    (1934), of which that is proved. Runs that are all alike have an interval too, as wide as they are few: n runs
    leave 3.7/n of the way to each bound.

    Raises:
        ValueError: there are no runs, or a value is beyond the bounds.
    """
    shares = _shares(counts, highest)
    draws = _drawn(shares)
    low, high = float(np.quantile(draws.low, _TAIL)), float(np.quantile(draws.high, 1 - _TAIL))
    return _around(mean(dict(shares)), low, high).times(highest)


def bounded_difference(first: Mapping[float, int], second: Mapping[float, int]) -> Interval:
    """The mean of the first runs minus that of the second ones, whose values lie between 0 and 1.

    The limits of both means are melded (M. P. Fay, M. A. Proschan, E. Brittain, Combining one-sample confidence
    procedures for inference in the two-sample case, 2015): the lower limit is the quantile of draws of the first
    one's lower limit minus draws of the second one's upper limit. It covers as often as stated wherever it was
    counted out, and mostly more often.

    Raises:
        ValueError: a side has no runs, or a value is beyond the bounds.
    """
    return _difference(_shares(first, 1.0), _shares(second, 1.0))


class _Drawn(NamedTuple):
    """Draws of both limits of a mean."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]


def _shares(counts: Mapping[float, int], highest: float) -> _Shares:
    known = {value: runs for value, runs in counts.items() if runs}
    if not known or min(known) < 0 or max(known) > highest:
        raise ValueError(f"no mean of values within 0 and {highest}: {dict(counts)}")
    return tuple(sorted((value / highest if highest else 0.0, runs) for value, runs in known.items()))


def mean(counts: Mapping[float, int]) -> float:
    """Rounded only once, so that means of runs that are all alike are equal, however many runs there are."""
    return float(sum(Fraction(value) * runs for value, runs in counts.items()) / sum(counts.values()))


def _around(point: float, low: float, high: float) -> Interval:
    # Rounding alone could put a limit that is the point itself to its other side.
    return Interval(point, min(point, low), max(point, high))


@lru_cache(maxsize=128)
def _drawn(shares: _Shares) -> _Drawn:
    """One value after the other, so that it takes the same memory however many there are."""
    draw = np.random.default_rng(_SEED)
    runs, total = np.zeros(_DRAWS), np.zeros(_DRAWS)
    for share, number in shares:
        weight = draw.standard_gamma(number, _DRAWS)
        runs += weight
        total += weight * share
    unseen = draw.standard_exponential(_DRAWS)
    return _Drawn(total / (runs + unseen), (total + unseen) / (runs + unseen))


@lru_cache(maxsize=65_536)
def _difference(first: _Shares, second: _Shares) -> Interval:
    item, other = _drawn(first), _drawn(second)
    # Both sides' draws come from the same numbers: shuffled, they have nothing to do with each other.
    order = np.random.default_rng(_SEED).permutation(_DRAWS)
    return _around(
        mean(dict(first)) - mean(dict(second)),
        float(np.quantile(item.low - other.high[order], _TAIL)),
        float(np.quantile(item.high - other.low[order], 1 - _TAIL)),
    )
