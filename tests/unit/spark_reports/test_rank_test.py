from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from rocketchaos.spark_reports.statistics.rank_sum import rank_test


def dealt_out(item: list[float], other: list[float]) -> list[float]:
    """How far each way to deal the runs out is from the mean rank sum, the way seen first."""
    pooled = [*item, *other]
    ranks = stats.rankdata(pooled)
    mean = len(item) * (len(pooled) + 1) / 2
    return [abs(sum(ranks[list(chosen)]) - mean) for chosen in combinations(range(len(pooled)), len(item))]


@pytest.mark.parametrize(
    ("item", "other"),
    [
        ([0, 4, 4, 4], [0, 0, 0, 4, 4]),
        ([1, 2, 3, 3, 8], [2, 2, 3, 9]),
        ([4, 4, 4], [0, 0, 0]),
        ([4], [0]),
        ([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]),
    ],
)
def test_is_exact_with_ties(item: list[float], other: list[float]) -> None:
    away = dealt_out(item, other)
    tested = rank_test(Counter(item), Counter(other))
    assert tested.exact
    assert tested.p == pytest.approx(np.mean([way >= away[0] for way in away]))
    assert tested.smallest == pytest.approx(np.mean([way >= max(away) for way in away]))


def test_agrees_with_scipy_without_ties() -> None:
    draws = np.random.default_rng(1).normal(size=(2, 15))
    tested = rank_test(Counter(draws[0].tolist()), Counter((draws[1] + 0.6).tolist()))
    assert tested.p == pytest.approx(stats.mannwhitneyu(draws[0], draws[1] + 0.6, method="exact").pvalue)


def test_the_order_of_the_sides_is_no_matter() -> None:
    draws = np.random.default_rng(6).poisson(60, size=70).tolist()
    few, many = Counter(draws[:10]), Counter(draws[10:])
    there, back = rank_test(few, many), rank_test(many, few)
    assert there.exact
    assert back.exact
    assert there.p == pytest.approx(back.p)


def test_a_few_runs_against_a_thousand_are_counted_out() -> None:
    # The three slowest of all: by the normal law p is never less than 0.0027.
    many = {float(value): 4 for value in range(250)}
    tested = rank_test({2_000.0: 1, 2_001.0: 1, 2_002.0: 1}, many)
    assert tested.exact
    assert tested.p == pytest.approx(1 / math.comb(1_003, 3))


def test_agrees_with_scipy_where_the_normal_law_is_used() -> None:
    draws = np.random.default_rng(2).poisson((60, 62), size=(500, 2)).T
    tested = rank_test(Counter(draws[0].tolist()), Counter(draws[1].tolist()))
    assert not tested.exact
    assert tested.p == pytest.approx(stats.mannwhitneyu(*draws, method="asymptotic").pvalue)


def test_the_normal_law_is_near_where_it_takes_over() -> None:
    # The same numbers of runs and ties, counted out by dealing them out at random.
    draws = np.random.default_rng(3).poisson((20, 22.5), size=(60, 2)).T
    drawn = stats.permutation_test(
        tuple(draws),
        lambda x, y: stats.rankdata(np.r_[x, y])[: len(x)].sum(),
        permutation_type="independent",
        n_resamples=4_000,
        rng=4,
    )
    tested = rank_test(Counter(draws[0].tolist()), Counter(draws[1].tolist()))
    assert tested.p == pytest.approx(drawn.pvalue, rel=0.3)


def test_cells_in_which_all_runs_are_alike_have_a_finite_p() -> None:
    alike = rank_test({4: 20}, {4: 20})
    assert (alike.p, alike.smallest) == (1.0, 1.0)
    apart = rank_test({4: 20}, {0: 20})
    assert apart.p == pytest.approx(2 / 137_846_528_820)


def test_many_runs_with_few_values_are_counted_out() -> None:
    tested = rank_test({4: 100_000}, {4: 99_990, 0: 10})
    assert tested.exact
    assert tested.p == pytest.approx(stats.fisher_exact([[100_000, 0], [99_990, 10]]).pvalue, rel=1e-6)


@pytest.mark.nightly
def test_alarms_at_the_stated_rate_where_nothing_differs() -> None:
    draw = np.random.default_rng(5)
    alarms = sum(
        rank_test(*(Counter(side.tolist()) for side in draw.poisson(6, size=(2, 12)))).p <= 0.05
        for _ in range(1_000)
    )
    # Exact, so never above 5 %; 68 is the 99.5 % quantile of 1,000 draws at 5 %.
    assert 25 <= alarms <= 68


def test_a_side_without_runs_is_refused() -> None:
    with pytest.raises(ValueError, match="without runs"):
        rank_test({4: 3}, {})
