"""The interval of a difference, from the intervals of its two sides."""

import math

from rocketchaos.harness.core.intervals import wilson_interval
from rocketchaos.spark_reports.statistics.interval import Interval


def difference(first: Interval, second: Interval) -> Interval:
    """First minus second, of independent estimates.

    G. Y. Zou, A. Donner, Construction of confidence limits about effect measures: a general approach (2008): each
    limit recovers the variances from the sides' own limits, so that the interval is as skew as they are.
    """
    point = first.point - second.point
    return Interval(
        point,
        point - math.hypot(first.point - first.low, second.high - second.point),
        point + math.hypot(first.high - first.point, second.point - second.low),
    )


def newcombe_difference(successes: int, trials: int, other_successes: int, other_trials: int) -> Interval:
    """The difference of two proportions, with the 95 % interval that R. G. Newcombe's method 10 gives (1998).

    `confint_proportions_2indep` of statsmodels gives the same, but needs pandas.

    Raises:
        ValueError: a side has no trials, or more successes than trials.
    """
    sides = [(successes, trials), (other_successes, other_trials)]
    first, second = (
        Interval(item / of, *wilson_interval(item, of)) if of else _refuse() for item, of in sides
    )
    return difference(first, second)


def _refuse() -> Interval:
    raise ValueError("a side without trials has no proportion")
