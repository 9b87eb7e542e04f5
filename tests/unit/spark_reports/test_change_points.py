from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from rocketchaos.spark_reports.statistics.change_points import LEAST_RUNS, best_split, best_splits, segment
from rocketchaos.spark_reports.statistics.multiple import benjamini_hochberg


def row(rng: np.random.Generator, *parts: tuple[int, float]) -> list[int]:
    return [int(hit) for runs, rate in parts for hit in rng.random(runs) < rate]


def test_the_p_value_of_single_runs_is_the_share_of_all_orders() -> None:
    rng, runs, misses, least = np.random.default_rng(0), 12, 4, 3
    orders = [[int(n not in which) for n in range(runs)] for which in combinations(range(runs), misses)]
    splits = [split for hits in orders if (split := best_split([1] * runs, hits, rng, least))]
    statistics = np.array([split.statistic for split in splits])
    assert len(splits) == len(orders)
    for split in splits[::17]:
        assert split.p == pytest.approx(float((statistics >= split.statistic - 1e-9).mean()))


@pytest.mark.nightly
@pytest.mark.parametrize(("block", "blocks"), [(1, 80), (40, 60)])
def test_rows_without_a_change_alarm_at_the_stated_rate(block: int, blocks: int) -> None:
    rng, seeds = np.random.default_rng(1), 400
    p_values = []
    for _ in range(seeds):
        hits = [int(count) for count in rng.binomial(block, 0.85, blocks)]
        split = best_split([block] * blocks, hits, rng)
        p_values.append(split.p if split else 1.0)
    alarms = sum(p <= 0.05 for p in p_values)
    assert alarms / seeds <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / seeds)
    assert alarms > 0, "a test that never alarms tests nothing"


@pytest.mark.nightly
def test_blocks_whose_rates_wander_without_a_change_don_t_alarm_more_often() -> None:
    rng, seeds = np.random.default_rng(2), 300
    alarms = 0
    for _ in range(seeds):
        hits = [int(rng.binomial(40, rate)) for rate in rng.beta(17, 3, 60)]
        split = best_split([40] * 60, hits, rng)
        alarms += split is not None and split.p <= 0.05
    assert alarms / seeds <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / seeds)


@pytest.mark.nightly
def test_a_fall_from_all_to_seven_of_ten_is_found_where_it_was() -> None:
    rng, seeds, found, off = np.random.default_rng(3), 200, 0, []
    for _ in range(seeds):
        changes = segment([1] * 100, row(rng, (60, 0.99), (40, 0.7)), rng)
        found += len(changes) == 1
        off += [abs(changes[0].at - 60)] if changes else []
    assert found / seeds >= 0.85
    assert np.median(off) <= 5


@pytest.mark.nightly
def test_a_small_fall_is_found_in_many_runs() -> None:
    rng, seeds, found = np.random.default_rng(4), 60, 0
    for _ in range(seeds):
        hits = [int(rng.binomial(100, 0.97 if block < 60 else 0.93)) for block in range(100)]
        changes = segment([100] * 100, hits, rng)
        found += any(abs(change.at - 60) <= 5 for change in changes)
    assert found / seeds >= 0.95


@pytest.mark.nightly
def test_two_changes_are_both_found() -> None:
    rng, seeds, both = np.random.default_rng(5), 50, 0
    for _ in range(seeds):
        changes = segment([1] * 150, row(rng, (50, 0.99), (50, 0.3), (50, 0.99)), rng)
        both += len(changes) == 2 and abs(changes[0].at - 50) <= 5 and abs(changes[1].at - 100) <= 5
    assert both / seeds >= 0.8


def test_a_change_tells_the_counts_on_its_sides() -> None:
    rng = np.random.default_rng(6)
    (change,) = segment([1] * 40, [1] * 20 + [0] * 20, rng)
    assert (change.at, change.before, change.after) == (20, (20, 20), (0, 20))
    assert change.p < 1e-9


@pytest.mark.parametrize("hits", [[], [1], [0] * 50, [1] * 50, [1, 0] * (LEAST_RUNS - 1)])
def test_where_there_is_nothing_to_cut_nothing_is_said(hits: list[int]) -> None:
    assert best_split([1] * len(hits), hits, np.random.default_rng(7)) is None


def test_no_stretch_is_shorter_than_the_least() -> None:
    changes = segment([1] * 60, [1] * 58 + [0] * 2, np.random.default_rng(8))
    assert all(change.before[1] >= LEAST_RUNS and change.after[1] >= LEAST_RUNS for change in changes)


def test_the_same_seed_gives_the_same_p() -> None:
    hits = [20] * 15 + [15] * 15
    first, second = (best_split([20] * 30, hits, np.random.default_rng(9)) for _ in range(2))
    assert first == second


@pytest.mark.nightly
def test_one_change_among_very_many_rows_stands_after_correction_and_none_does_where_there_is_none() -> None:
    rng, many = np.random.default_rng(8), 700
    unchanged = [([20] * 30, [int(count) for count in rng.binomial(20, 0.8, 30)]) for _ in range(many)]
    changed = ([20] * 30, [18] * 15 + [8] * 15)
    assert (alone := best_split(*changed, rng)) is not None
    assert alone.p == 1e-4
    assert alone.p * (many + 1) > 0.05, "as coarse as that it can't stand"
    adjusted = benjamini_hochberg(
        [split.p if split else 1.0 for split in best_splits([*unchanged, changed], rng, 0.05)]
    )
    assert adjusted[-1] <= 0.05
    assert [p for p in adjusted[:-1] if p <= 0.05] == []
