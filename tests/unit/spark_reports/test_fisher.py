from __future__ import annotations

import pytest
from scipy import stats

from rocketchaos.spark_reports.statistics.fisher import fisher


@pytest.mark.parametrize(
    "table", [(3, 20, 17, 20), (0, 5, 5, 5), (20, 20, 20, 20), (1, 1, 0, 1), (50, 400, 90, 380)]
)
def test_agrees_with_scipy(table: tuple[int, int, int, int]) -> None:
    hits, of, others, other_of = table
    expected = stats.fisher_exact([[hits, of - hits], [others, other_of - others]]).pvalue
    assert fisher(*table).p == pytest.approx(expected)


def test_knows_the_smallest_p_that_the_numbers_of_runs_allow() -> None:
    assert fisher(1, 3, 2, 3).smallest == pytest.approx(0.1)
    assert fisher(3, 3, 3, 3).smallest == 1.0
