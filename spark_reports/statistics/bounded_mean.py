"""The mean of a number with known bounds, as messages of a run: an interval that few and equal runs don't fool."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from scipy.stats import beta

from spark_reports.statistics.interval import Interval

_DRAWS = 20_000
_SEED = 20_261_121
"""The draws are always the same: a report made again says the same."""


def bounded_mean(counts: Mapping[float, int], highest: float = 1.0, level: float = 0.95) -> Interval:
    """The mean of runs whose values lie within 0 and `highest`, with an equal-tailed interval.

    `counts` has so many runs for each value. The interval is that of the Bayesian bootstrap (D. B. Rubin, 1981)
    with half a run more at each bound: what no run has shown yet may still be there. Where all values are at the
    bounds it is the Jeffreys interval of a proportion, with its end put to the bound that all runs are at (L. D.
    Brown, T. T. Cai, A. DasGupta, Interval estimation for a binomial proportion, 2001). Runs that are all alike
    have an interval too, as wide as they are few, where Student's would have the width 0. It covers as those do:
    95 % on the average over true values, not for each of them.

    Raises:
        ValueError: there are no runs, or a value is beyond the bounds.
    """
    known = {value: runs for value, runs in counts.items() if runs}
    if not known or min(known) < 0 or max(known) > highest:
        raise ValueError(f"no mean of values within 0 and {highest}: {dict(counts)}")
    if highest == 0:
        return Interval(0.0, 0.0, 0.0)
    return _interval(tuple(sorted((value / highest, runs) for value, runs in known.items())), level).times(
        highest
    )


@lru_cache(maxsize=65_536)
def _interval(shares: tuple[tuple[float, int], ...], level: float) -> Interval:
    runs = sum(number for _, number in shares)
    point = sum(share * number for share, number in shares) / runs
    low, high = _quantiles(shares, (1 - level) / 2)
    return Interval(
        point,
        0.0 if shares[-1][0] == 0 else min(point, low),
        1.0 if shares[0][0] == 1 else max(point, high),
    )


def _quantiles(shares: tuple[tuple[float, int], ...], tail: float) -> tuple[float, float]:
    if all(share in (0, 1) for share, _ in shares):
        at = dict(shares)
        law = beta(at.get(1.0, 0) + 0.5, at.get(0.0, 0) + 0.5)
        return float(law.ppf(tail)), float(law.ppf(1 - tail))
    values = np.array([0.0, 1.0, *(share for share, _ in shares)])
    shapes = np.array([0.5, 0.5, *(number for _, number in shares)], dtype=float)
    weights = np.random.default_rng(_SEED).standard_gamma(shapes, size=(_DRAWS, len(shapes)))
    low, high = np.quantile(weights @ values / weights.sum(axis=1), [tail, 1 - tail])
    return float(low), float(high)
