from __future__ import annotations

import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from rocketchaos.spark_reports.statistics.differences import newcombe_difference


@pytest.mark.parametrize("table", [(3, 20, 17, 20), (5, 5, 0, 5), (19, 20, 20, 20)])
def test_agrees_with_statsmodels(table: tuple[int, int, int, int]) -> None:
    interval = newcombe_difference(*table)
    assert interval.point == table[0] / table[1] - table[2] / table[3]
    assert interval[1:] == pytest.approx(confint_proportions_2indep(*table, method="newcomb"))


def test_a_side_without_trials_is_refused() -> None:
    with pytest.raises(ValueError, match="without trials"):
        newcombe_difference(1, 2, 0, 0)
