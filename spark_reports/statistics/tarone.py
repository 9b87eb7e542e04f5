"""Many tests at once: a report that alarms falsely in one of twenty cases, not in each of twenty rows."""

from collections.abc import Sequence

import numpy as np

from rocketchaos.spark_reports.statistics.exact import ROUNDING, Significance

FAMILY_WISE = 0.05
"""The chance that a report in which nothing differs says of anything that it does."""


def tarone_holm(tests: Sequence[Significance]) -> list[float]:
    """The p-values, corrected so that the family-wise rate of errors holds however the tests depend on each other.

    S. Holm, A simple sequentially rejective multiple test procedure (1979), in which a test counts only where it
    could have brought a p so small at all (R. E. Tarone, A modified Bonferroni method for discrete data, 1990):
    cells with few runs, and classes without messages, take no power from the others. No library has it.
    """
    order = sorted(range(len(tests)), key=lambda place: tests[place].p)
    smallest = np.array([tests[place].smallest for place in order])
    corrected, least = [1.0] * len(tests), 0.0
    for step, place in enumerate(order):
        p = tests[place].p
        rivals = int(np.count_nonzero(smallest[step:] <= p * ROUNDING))
        least = max(least, min(1.0, p * rivals))
        corrected[place] = least
    return corrected
