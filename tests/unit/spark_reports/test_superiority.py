from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, norm

from rocketchaos.spark_reports.statistics.multiple import holm
from rocketchaos.spark_reports.statistics.superiority import Stratum, Superiority, superiorities, superiority


def binned(values: np.ndarray, missed: np.ndarray, bins: int = 20) -> Stratum:
    """As `flakiness_conditions` bins them: by the middle of their ranks, equal values alike."""
    inorder = np.sort(values)
    below, up_to = np.searchsorted(inorder, values), np.searchsorted(inorder, values, side="right")
    which = ((below + up_to) / 2 / len(values) * bins).astype(int)
    counts = [np.bincount(which[chosen], minlength=bins) for chosen in (missed, ~missed)]
    return Stratum(*(tuple(int(item) for item in own) for own in counts))


def drawn(rng: np.random.Generator, misses: int, hits: int, shift: float) -> Stratum:
    missed = np.arange(misses + hits) < misses
    return binned(rng.normal(size=misses + hits) + shift * missed, missed)


def known(strata: list[Stratum], rng: np.random.Generator) -> Superiority:
    effect = superiority(strata, rng)
    assert effect is not None
    return effect


@pytest.mark.parametrize("others", [0, 3000])
def test_what_goes_with_the_outcome_without_exception_is_sure_however_many_are_asked(others: int) -> None:
    rng = np.random.default_rng(3)
    clear, nothing = Stratum((0, 20), (20, 0)), Stratum((10, 10), (10, 10))
    found = superiorities([[clear], *[[nothing]] * others, [Stratum((3,), (0,))]], rng, 0.05)
    assert found[-1] is None
    ps = [item.p for item in found if item is not None]
    assert len(ps) == 1 + others
    adjusted = holm(ps)
    assert adjusted[0] <= 0.05
    assert all(p > 0.05 for p in adjusted[1:])


def test_without_coarse_bins_it_is_mann_and_whitney_s() -> None:
    rng = np.random.default_rng(0)
    values, missed = np.round(rng.normal(size=300), 1), np.arange(300) < 70
    values[missed] += 0.3
    stratum = binned(values, missed, bins=300)
    theirs = mannwhitneyu(values[missed], values[~missed], use_continuity=False)
    ours = known([stratum], rng)
    assert ours.auc == pytest.approx(theirs.statistic / (70 * 230))
    assert ours.p == pytest.approx(theirs.pvalue)


def test_few_misses_are_dealt_which_comes_close_to_the_exact_test() -> None:
    rng = np.random.default_rng(1)
    values, missed = rng.normal(size=20), np.arange(20) < 4
    values[missed] += 1.2
    theirs = mannwhitneyu(values[missed], values[~missed], method="exact")
    assert known([binned(values, missed)], rng).p == pytest.approx(theirs.pvalue, abs=0.02)


@pytest.mark.parametrize(("misses", "hits", "seeds"), [(3, 40, 250), (60, 90, 1000)])
def test_a_condition_that_has_nothing_to_do_with_it_alarms_at_the_stated_rate(
    misses: int, hits: int, seeds: int
) -> None:
    rng = np.random.default_rng(2)
    alarms = sum(known([drawn(rng, misses, hits, 0.0)], rng).p <= 0.05 for _ in range(seeds))
    assert 0 < alarms / seeds <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / seeds)


@pytest.mark.parametrize(
    ("misses", "hits", "shift"),
    [(3, 40, 1.0), pytest.param(10, 60, 2.0, marks=pytest.mark.nightly), (60, 60, 0.5), (4, 30, 0.0)],
)
def test_the_interval_covers_at_the_stated_rate(misses: int, hits: int, shift: float) -> None:
    rng, seeds = np.random.default_rng(3), 300
    truth = float(norm.cdf(shift / np.sqrt(2)))
    effects = [known([drawn(rng, misses, hits, shift)], rng) for _ in range(seeds)]
    covered = sum(effect.low <= truth <= effect.high for effect in effects) / seeds
    assert covered >= 0.95 - 2.6 * np.sqrt(0.05 * 0.95 / seeds)
    assert all(0 <= effect.low <= effect.auc <= effect.high <= 1 for effect in effects)


@pytest.mark.nightly
def test_load_that_makes_runs_fail_is_found() -> None:
    rng, seeds = np.random.default_rng(4), 100
    found = sum(known([drawn(rng, 6, 60, 1.8)], rng).p <= 0.05 for _ in range(seeds))
    assert found / seeds >= 0.9


def test_a_complete_separation_still_has_an_interval() -> None:
    effect = known([Stratum((0, 0, 3), (10, 10, 0))], np.random.default_rng(5))
    assert effect.auc == effect.high == 1.0
    assert 0.5 < effect.low < 0.95


def test_a_cell_is_compared_with_itself_alone() -> None:
    """One cell has high values and many misses, the other low values and few: that alone says nothing."""
    rng = np.random.default_rng(6)
    alike = Stratum((10, 10), (5, 5)), Stratum((2, 2), (40, 40))
    assert known(list(alike), rng).auc == pytest.approx(0.5)


@pytest.mark.parametrize("strata", [[], [Stratum((3, 2), (0, 0))], [Stratum((0, 0), (4, 4))]])
def test_without_both_ends_there_is_nothing_to_compare(strata: list[Stratum]) -> None:
    assert superiority(strata, np.random.default_rng(7)) is None
