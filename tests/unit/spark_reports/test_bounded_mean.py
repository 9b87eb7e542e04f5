from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from rocketchaos.spark_reports.statistics.bounded_mean import bounded_difference, bounded_mean, mean


@pytest.mark.parametrize(("hits", "runs"), [(3, 20), (19, 20), (1, 2), (0, 20), (7, 7)])
def test_a_proportion_has_the_interval_of_clopper_and_pearson(hits: int, runs: int) -> None:
    interval = bounded_mean({0: runs - hits, 1: hits})
    assert interval.point == hits / runs
    assert interval[1:] == pytest.approx(proportion_confint(hits, runs, method="beta"), abs=0.01)


def test_at_a_bound_the_interval_ends_there() -> None:
    assert bounded_mean({0: 20}, 8).low == 0
    assert bounded_mean({8: 20}, 8).high == 8
    assert bounded_mean({0: 3}, 0) == (0, 0, 0)


def test_runs_that_are_all_alike_leave_room_for_others_to_come() -> None:
    for runs in (20, 200):
        interval = bounded_mean({4: runs}, 8)
        assert interval.point == 4
        # As likely as the level says to be missed by all runs, and as far away as can be.
        room = 4 * (1 - 0.025 ** (1 / runs))
        assert interval[1:] == pytest.approx((4 - room, 4 + room), abs=0.03 * room)


def test_of_many_runs_it_is_students() -> None:
    values = np.random.default_rng(1).binomial(8, 0.4, size=2_000)
    low, high = stats.t.interval(0.95, 1_999, loc=values.mean(), scale=stats.sem(values))
    assert bounded_mean(Counter(values.tolist()), 8)[1:] == pytest.approx((low, high), abs=0.01)


def test_the_same_counts_always_give_the_same_interval() -> None:
    assert bounded_mean({2: 3, 4: 9}, 8) == bounded_mean({4: 9, 2: 3}, 8)


def test_means_of_runs_that_are_all_alike_are_equal_however_many() -> None:
    assert {mean({1 / 5: runs}) for runs in (3, 7, 20, 50)} == {1 / 5}
    assert bounded_difference({1 / 5: 3}, {1 / 5: 20}).point == 0


Truth = dict[float, float]
"""Of a run's messages, which share is of a class, and how likely."""

_RARE: dict[str, Truth] = {
    "never": {0.5: 1.0},
    "rarely fewer": {0.5: 0.95, 0.0: 0.05},
    "rarely all": {0.0: 0.95, 1.0: 0.05},
    "very rarely all": {0.0: 0.99, 1.0: 0.01},
    "now and then all": {0.0: 0.85, 1.0: 0.15},
    "rarely none": {1.0: 0.95, 0.0: 0.05},
    "now and then one": {0.0: 0.85, 0.125: 0.15},
}


def _chances(truth: Truth, runs: int) -> list[tuple[dict[float, int], float]]:
    """What a side can show, and how likely it is, but for what is hardly ever."""
    (often, chance), *rest = truth.items()
    if not rest:
        return [({often: runs}, 1.0)]
    ways = ((more, float(stats.binom.pmf(more, runs, 1 - chance))) for more in range(runs + 1))
    return [({often: runs - more, rest[0][0]: more}, likely) for more, likely in ways if likely > 1e-3]


def _coverage(first: Truth, second: Truth, number: int, other: int) -> float:
    """Counted out over what so many runs can show, so that no luck is in it."""
    true = _expected(first) - _expected(second)
    covered = known = 0.0
    for (mine, likely), (theirs, so_likely) in product(_chances(first, number), _chances(second, other)):
        interval = bounded_difference(mine, theirs)
        known += likely * so_likely
        covered += likely * so_likely * (interval.low <= true <= interval.high)
    return covered / known


def _expected(truth: Truth) -> float:
    return sum(value * chance for value, chance in truth.items())


@pytest.mark.nightly
@pytest.mark.parametrize(("number", "other"), [(3, 3), (10, 10), (20, 20), (3, 100)])
def test_the_difference_covers_each_truth_where_a_value_is_rare(number: int, other: int) -> None:
    covered = {(a, b): _coverage(_RARE[a], _RARE[b], number, other) for a, b in product(_RARE, _RARE)}
    assert min(covered.values()) >= 0.95, covered


@pytest.mark.nightly
def test_the_difference_of_many_runs_covers_too() -> None:
    assert _coverage(_RARE["rarely all"], _RARE["rarely none"], 1_000, 100) >= 0.95
    assert _coverage(_RARE["very rarely all"], _RARE["never"], 1_000, 1_000) >= 0.95


_NOISY: tuple[Truth, ...] = (
    {k / 8: float(stats.binom.pmf(k, 8, 0.3)) for k in range(9)},
    {0.5: 0.8, 0.375: 0.1, 0.625: 0.1},
    {0.0: 0.9, 0.125: 0.08, 1.0: 0.02},
)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("number", "other"), [(3, 5), *(pytest.param(n, n, marks=pytest.mark.nightly) for n in (20, 1_000))]
)
def test_the_difference_covers_each_truth_where_all_is_noisy(number: int, other: int) -> None:
    draw, times = np.random.default_rng(number), 200
    for first, second in ((_NOISY[0], _NOISY[2]), (_NOISY[1], _NOISY[0]), (_NOISY[2], _NOISY[1])):
        sides = [
            draw.multinomial(runs, list(truth.values()), size=times)
            for runs, truth in ((number, first), (other, second))
        ]
        true, hits = _expected(first) - _expected(second), 0
        for mine, theirs in zip(*sides, strict=True):
            interval = bounded_difference(
                dict(zip(first, map(int, mine), strict=True)),
                dict(zip(second, map(int, theirs), strict=True)),
            )
            hits += interval.low <= true <= interval.high
        # 183 is the 1 % quantile of 200 draws at 95 %.
        assert hits >= 183


@pytest.mark.parametrize("counts", [{}, {0: 0}, {9: 1}, {-1: 1}])
def test_values_beyond_the_bounds_are_refused(counts: dict[float, int]) -> None:
    with pytest.raises(ValueError, match="no mean"):
        bounded_mean(counts, 8)
