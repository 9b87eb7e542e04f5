"""Every method of the reports holds the rate that its page states: on planted truth, and where nothing is."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import numpy as np
import pytest
from scipy import stats

from rocketchaos.harness.core.intervals import wilson_interval
from rocketchaos.spark_reports.methods import METHODS
from rocketchaos.spark_reports.statistics.cliffs_delta import cliffs_delta
from rocketchaos.spark_reports.statistics.differences import newcombe_difference
from rocketchaos.spark_reports.statistics.exact import Significance
from rocketchaos.spark_reports.statistics.fisher import fisher
from rocketchaos.spark_reports.statistics.multiple import benjamini_hochberg
from rocketchaos.spark_reports.statistics.tarone import tarone_holm

RATES = (0.02, 0.1, 0.3, 0.5, 0.85, 0.99)
STATED = 0.05
TIMES = 400
UNLUCKY = 2.6 * float(np.sqrt(STATED * (1 - STATED) / TIMES))
"""By so much a simulation of `TIMES` cases may be off: 2.6 standard deviations."""


def _outcomes(runs: int, rate: float) -> Iterator[tuple[int, float]]:
    """Every number of hits, and how likely it is: counted out, with no luck."""
    return ((hits, float(stats.binom.pmf(hits, runs, rate))) for hits in range(runs + 1))


def _wilson() -> None:
    """Its coverage swings around 95 % with the rate: on average it holds, and it never falls far."""
    covered = {
        (runs, rate): sum(
            chance
            for hits, chance in _outcomes(runs, rate)
            if wilson_interval(hits, runs)[0] <= rate <= wilson_interval(hits, runs)[1]
        )
        for runs in (5, 20, 100)
        for rate in np.linspace(0.01, 0.99, 99).tolist()
    }
    assert float(np.mean(list(covered.values()))) >= 0.95
    assert min(covered.values()) >= 0.83, min(covered, key=lambda key: covered[key])


def _newcombe() -> None:
    covered = [
        sum(
            chance * other_chance
            for hits, chance in _outcomes(runs, rate)
            for other_hits, other_chance in _outcomes(other, other_rate)
            if newcombe_difference(hits, runs, other_hits, other).low
            <= rate - other_rate
            <= newcombe_difference(hits, runs, other_hits, other).high
        )
        for runs, other in ((10, 10), (20, 8))
        for rate in RATES
        for other_rate in RATES
    ]
    assert float(np.mean(covered)) >= 0.95
    assert min(covered) >= 0.9


@cache
def _tested(hits: int, runs: int, other_hits: int, other: int) -> Significance:
    return fisher(hits, runs, other_hits, other)


def _alarms(runs: int, rate: float, other: int, other_rate: float) -> float:
    return sum(
        chance * other_chance
        for hits, chance in _outcomes(runs, rate)
        for other_hits, other_chance in _outcomes(other, other_rate)
        if _tested(hits, runs, other_hits, other).p <= STATED
    )


def _fisher() -> None:
    for runs, other in ((5, 5), (20, 20), (30, 8)):
        assert max(_alarms(runs, rate, other, rate) for rate in RATES) <= STATED
    assert _alarms(20, 0.99, 20, 0.5) >= 0.9, "a planted loss is found"


def _reports(differ: int, rows: int = 20) -> Iterator[list[Significance]]:
    """Reports of comparisons, of which the first ones really differ."""
    draw = np.random.default_rng(20)
    for _ in range(TIMES):
        rates = np.array([[0.98, 0.4]] * differ + [[0.7, 0.7]] * (rows - differ))
        yield [_tested(hits, 25, other, 25) for hits, other in draw.binomial(25, rates).tolist()]


def _tarone_holm() -> None:
    false = sum(any(p <= STATED for p in tarone_holm(tests)) for tests in _reports(0))
    assert false / TIMES <= STATED + UNLUCKY
    uncorrected = sum(any(test.p <= STATED for test in tests) for tests in _reports(0))
    assert uncorrected / TIMES > 3 * STATED, "without it the reports do alarm"
    found = sum(p <= STATED for tests in _reports(3) for p in tarone_holm(tests)[:3])
    assert found / (3 * TIMES) >= 0.8
    beside = sum(any(p <= STATED for p in tarone_holm(tests)[3:]) for tests in _reports(3))
    assert beside / TIMES <= STATED + UNLUCKY


def _benjamini_hochberg() -> None:
    draw, shares = np.random.default_rng(21), []
    for changed in (0, 8):
        false_of_alarms = []
        for _ in range(10 * TIMES):
            values = [*(draw.random(changed) * 0.002), *draw.random(60 - changed)]
            alarms = np.array(benjamini_hochberg(values)) <= STATED
            false_of_alarms.append(alarms[changed:].sum() / max(1, alarms.sum()))
            shares.append(alarms[:changed].mean() if changed else 1.0)
        assert float(np.mean(false_of_alarms)) <= STATED + UNLUCKY
    assert float(np.mean(shares)) >= 0.9


def _cliffs_delta() -> None:
    draw = np.random.default_rng(22)
    for runs, other, shift in ((15, 15, 0.0), (30, 10, 0.8), (12, 40, 2.0)):
        truth, covered = 2 * float(stats.norm.cdf(shift / np.sqrt(2))) - 1, 0
        for _ in range(TIMES):
            interval = cliffs_delta(
                _histogram(draw.normal(shift, 1, runs)), _histogram(draw.normal(0, 1, other))
            )
            covered += interval.low <= truth <= interval.high
        assert covered / TIMES >= 1 - STATED - UNLUCKY


def _histogram(values: np.ndarray) -> dict[float, int]:
    return dict.fromkeys(values.tolist(), 1)


SIMULATIONS: Mapping[str, Callable[[], None]] = {
    "wilson": _wilson,
    "newcombe": _newcombe,
    "fisher": _fisher,
    "tarone-holm": _tarone_holm,
    "benjamini-hochberg": _benjamini_hochberg,
    "cliffs-delta": _cliffs_delta,
}
ELSEWHERE: Mapping[str, str] = {
    "jeffreys": "test_score.test_the_score_is_calibrated",
    "change-points": "test_change_points.test_rows_without_a_change_alarm_at_the_stated_rate",
    "trend": "test_trend.test_rows_without_a_trend_alarm_at_the_stated_rate",
    "bounded-mean": "test_bounded_mean.test_the_difference_covers_each_truth_where_a_value_is_rare",
    "rank-test": "test_rank_test.test_alarms_at_the_stated_rate_where_nothing_differs",
    "superiority": "test_superiority.test_the_interval_covers_at_the_stated_rate",
    "percentiles": "test_percentiles.test_intervals_cover_where_the_values_of_a_run_go_together",
}
"""Methods whose simulations are with their other tests."""


@pytest.mark.nightly
@pytest.mark.parametrize("method", SIMULATIONS)
def test_it_holds_its_rate(method: str) -> None:
    SIMULATIONS[method]()


def test_every_method_is_simulated() -> None:
    assert set(SIMULATIONS) | set(ELSEWHERE) == set(METHODS)
    for where in ELSEWHERE.values():
        module, _, name = where.partition(".")
        assert callable(getattr(importlib.import_module(f"tests.unit.spark_reports.{module}"), name))
