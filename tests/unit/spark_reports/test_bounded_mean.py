from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from spark_reports.statistics.bounded_mean import bounded_mean


@pytest.mark.parametrize(("hits", "runs"), [(3, 20), (19, 20), (1, 2)])
def test_a_proportion_has_the_jeffreys_interval(hits: int, runs: int) -> None:
    interval = bounded_mean({0: runs - hits, 1: hits})
    assert interval.point == hits / runs
    assert interval[1:] == pytest.approx(proportion_confint(hits, runs, method="jeffreys"))


def test_at_a_bound_the_interval_ends_there() -> None:
    assert bounded_mean({0: 20}, 8).low == 0
    assert bounded_mean({8: 20}, 8).high == 8


def test_runs_that_are_all_alike_have_an_interval_as_wide_as_they_are_few() -> None:
    twenty, two_hundred = bounded_mean({4: 20}, 8), bounded_mean({4: 200}, 8)
    assert twenty.point == two_hundred.point == 4
    assert 0.3 < twenty.high - 4 < 0.7
    assert twenty.high - 4 == pytest.approx(4 - twenty.low, abs=0.06)
    assert two_hundred.high - 4 < 0.07


def test_of_many_runs_it_is_students() -> None:
    values = np.random.default_rng(1).binomial(8, 0.4, size=2_000)
    low, high = stats.t.interval(0.95, 1_999, loc=values.mean(), scale=stats.sem(values))
    assert bounded_mean(Counter(values.tolist()), 8)[1:] == pytest.approx((low, high), abs=0.006)


def test_the_same_counts_always_give_the_same_interval() -> None:
    assert bounded_mean({2: 3, 4: 9}, 8) == bounded_mean({4: 9, 2: 3}, 8)


# Of a run's 8 messages, how many are of a class, and how likely: always nearly alike, rarely otherwise, and noisy.
_TRUTHS = [
    {4: 0.95, 0: 0.05},
    {4: 0.9, 8: 0.1},
    {4: 0.8, 3: 0.1, 5: 0.1},
    {0: 0.7, 8: 0.3},
    {k: stats.binom.pmf(k, 8, 0.3) for k in range(9)},
    {0: 0.85, 1: 0.15},
]


@pytest.mark.parametrize("runs", [10, 20, 60])
def test_covers_the_truth_on_the_average(runs: int) -> None:
    draw, covered, times = np.random.default_rng(runs), [], 150
    for truth in _TRUTHS:
        values, chances = np.array(list(truth)), np.array(list(truth.values()))
        mean, hits = float(values @ chances), 0
        for _ in range(times):
            seen = draw.choice(values, size=runs, p=chances / chances.sum())
            interval = bounded_mean(Counter(seen.tolist()), 8)
            hits += interval.low <= mean <= interval.high
        covered.append(hits / times)
    assert np.mean(covered) >= 0.93
    assert min(covered) >= 0.80


@pytest.mark.parametrize("counts", [{}, {0: 0}, {9: 1}, {-1: 1}])
def test_values_beyond_the_bounds_are_refused(counts: dict[float, int]) -> None:
    with pytest.raises(ValueError, match="no mean"):
        bounded_mean(counts, 8)
