from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from spark_reports.statistics.bounded_mean import bounded_mean
from spark_reports.statistics.differences import difference, newcombe_difference


@pytest.mark.parametrize("table", [(3, 20, 17, 20), (5, 5, 0, 5), (19, 20, 20, 20)])
def test_agrees_with_statsmodels(table: tuple[int, int, int, int]) -> None:
    interval = newcombe_difference(*table)
    assert interval.point == table[0] / table[1] - table[2] / table[3]
    assert interval[1:] == pytest.approx(confint_proportions_2indep(*table, method="newcomb"))


def test_a_side_without_trials_is_refused() -> None:
    with pytest.raises(ValueError, match="without trials"):
        newcombe_difference(1, 2, 0, 0)


def test_all_alike_on_both_sides_is_a_difference_with_an_interval() -> None:
    interval = difference(bounded_mean({4: 20}, 8), bounded_mean({0: 20}, 8))
    assert interval.point == 4
    assert 2.5 < interval.low < 4 < interval.high < 4.8


@pytest.mark.parametrize("rare", [0.0, 0.05, 0.3])
def test_covers_the_truth(rare: float) -> None:
    draw, hits, times = np.random.default_rng(7), 0, 300
    for _ in range(times):
        one = np.where(draw.random(20) < rare, 0, 4)
        other = draw.binomial(8, 0.25, size=20)
        sides = [bounded_mean(Counter(side.tolist()), 8) for side in (one, other)]
        interval = difference(*sides)
        hits += interval.low <= 4 * (1 - rare) - 2 <= interval.high
    assert hits >= 0.93 * times
