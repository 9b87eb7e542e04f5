from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from rocketchaos.spark_reports.statistics.cliffs_delta import cliffs_delta


def test_is_what_the_rank_sum_says() -> None:
    item, other = np.random.default_rng(1).integers(0, 9, size=(2, 30))
    wins = stats.mannwhitneyu(item, other).statistic
    delta = cliffs_delta(Counter(item.tolist()), Counter(other.tolist()))
    assert delta.point == pytest.approx(2 * wins / 900 - 1)


def test_runs_that_are_all_alike_have_an_interval() -> None:
    apart = cliffs_delta({4: 20}, {0: 20})
    assert (apart.point, apart.high) == (1.0, 1.0)
    assert 0.75 < apart.low < 0.95
    same = cliffs_delta({4: 20}, {4: 20})
    assert same.point == 0
    assert -0.4 < same.low < 0 < same.high < 0.4


def test_turned_round_it_is_the_opposite() -> None:
    item, other = {1: 3, 2: 9}, {2: 4, 5: 1}
    there, back = cliffs_delta(item, other), cliffs_delta(other, item)
    assert tuple(there) == pytest.approx((-back.point, -back.high, -back.low), abs=1e-9)


def test_one_run_a_side_tells_nothing() -> None:
    only = cliffs_delta({4: 1}, {0: 1})
    assert only.point == 1
    assert only.low < 0


@pytest.mark.parametrize("shift", [0.0, 0.5, 1.5])
def test_covers_the_truth(shift: float) -> None:
    draw = np.random.default_rng(6)
    truth = 2 * stats.norm.cdf(shift / np.sqrt(2)) - 1
    hits = 0
    for _ in range(500):
        item, other = draw.normal(size=(2, 20))
        interval = cliffs_delta(Counter((item + shift).tolist()), Counter(other.tolist()))
        hits += interval.low <= truth <= interval.high
    assert hits >= 0.93 * 500
