"""Many tests at once: p-values adjusted so that the whole family alarms at the stated rate."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values that keep the chance of any false alarm in the family, however the tests depend.

    S. Holm, A simple sequentially rejective multiple test procedure (1979).
    """
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda one: p_values[one])):
        highest = max(highest, min(1.0, p_values[place] * (len(p_values) - rank)))
        adjusted[place] = highest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values that keep the expected share of false alarms among the alarms.

    Y. Benjamini, Y. Hochberg, Controlling the false discovery rate (1995). Where nothing at all is
    true, the chance of any alarm is kept too.
    """
    count = len(p_values)
    adjusted, lowest = [0.0] * count, 1.0
    for rank, place in enumerate(sorted(range(count), key=lambda one: p_values[one], reverse=True)):
        lowest = min(lowest, p_values[place] * count / (count - rank))
        adjusted[place] = lowest
    return adjusted
