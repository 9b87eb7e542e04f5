"""Cliff's delta: how far one sample lies above another one, whatever the unit.

`rank_compare_2indep` of statsmodels takes samples, not histograms, and has no interval where the sides
don't overlap.
"""

from collections.abc import Callable, Mapping

from scipy.optimize import brentq

from rocketchaos.harness.core.intervals import Z_95
from rocketchaos.spark_reports.statistics.interval import Interval


def cliffs_delta(first: Mapping[float, int], second: Mapping[float, int]) -> Interval:
    """P(first > second) - P(first < second), from -1 to 1, of samples given as value: number of runs.

    N. Cliff, Dominance statistics (1993). The 95 % interval is that of R. G. Newcombe, Confidence intervals for an
    effect size measure based on the Mann-Whitney statistic, part 2 (2006), method 5: it has a width where all runs
    of a side are alike, too, and with ties it is rather too wide than too narrow.

    Raises:
        ValueError: a side has no runs.
    """
    item, other = sum(first.values()), sum(second.values())
    if not item or not other:
        raise ValueError("a side without runs can't lie above another one")
    below, wins, ties = 0, 0, 0
    for value in sorted({*first, *second}):
        mine, theirs = first.get(value, 0), second.get(value, 0)
        wins, ties, below = wins + mine * below, ties + mine * theirs, below + theirs
    theta = (wins + ties / 2) / (item * other)
    low, high = _limits(theta, item, other)
    return Interval(2 * theta - 1, 2 * low - 1, 2 * high - 1)


def _limits(theta: float, number: int, other: int) -> tuple[float, float]:
    beyond = _beyond(theta, number, other)
    # At the estimate itself the variance is greater than no distance at all: each side has one crossing.
    low = 0.0 if theta == 0 else float(brentq(beyond, 0.0, theta if theta < 1 else 1 - 1e-12))
    high = 1.0 if theta == 1 else float(brentq(beyond, theta if theta > 0 else 1e-12, 1.0))
    return low, high


def _beyond(theta: float, number: int, other: int) -> Callable[[float], float]:
    """How much farther a true value is from the estimate than 95 % would have it: negative within the interval."""
    average = (number + other) / 2 - 1

    def beyond(true: float) -> float:
        spread = 1 + average * ((1 - true) / (2 - true) + true / (1 + true))
        return (theta - true) ** 2 - Z_95**2 * true * (1 - true) * spread / (number * other)

    return beyond
