from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, quantile_test

from rocketchaos.spark_reports.statistics.percentiles import Histogram

SHARES = (0.5, 0.9, 0.99)


def one_each(values: np.ndarray, blocks: np.ndarray) -> Histogram:
    return Histogram.of(zip(blocks.tolist(), values.tolist(), [1] * len(values), strict=True))


@given(
    st.lists(st.integers(0, 300), min_size=1, max_size=400),
    st.sampled_from([0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0]),
)
def test_percentiles_are_those_of_numpy(values: list[int], share: float) -> None:
    made = one_each(np.array(values), np.arange(len(values)) % 5)
    assert made.percentile(share).value == np.quantile(values, share, method="inverted_cdf")
    assert made.total == len(values)


def test_equal_values_of_several_rows_are_added() -> None:
    made = Histogram.of([(0, 1.0, 2), (1, 5.0, 1), (0, 1.0, 3)])
    assert made.values.tolist() == [1.0, 5.0]
    assert made.counts.tolist() == [[5, 0], [0, 1]]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_where_nothing_is_clustered_the_interval_is_that_of_scipy(share: float) -> None:
    values = np.random.default_rng(7).permutation(np.arange(1000.0))
    # As many blocks as values: each is a sample of its own, and nothing is lost on blocks.
    made = one_each(values, np.arange(1000)).percentile(share)
    expected = quantile_test(values, p=share).confidence_interval(0.95)
    assert made.low is not None
    assert made.high is not None
    # Its bounds are order statistics too; the test is randomised at neither end, so that one rank may differ.
    assert (made.low, made.high) == pytest.approx((expected.low, expected.high), abs=1)


@pytest.mark.parametrize("share", SHARES)
def test_intervals_cover_where_values_are_independent(share: float) -> None:
    covered = _coverage(share, runs=200, in_run=10, of_run=0.0)
    assert covered >= 0.92


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("of_run", [0.5, 1.0])
def test_intervals_cover_where_the_values_of_a_run_go_together(share: float, of_run: float) -> None:
    assert _coverage(share, runs=200, in_run=10, of_run=of_run) >= 0.91


@pytest.mark.nightly
def test_intervals_that_take_clustered_values_for_independent_do_not_cover() -> None:
    assert _coverage(0.5, runs=200, in_run=10, of_run=1.0, blocks=2000) < 0.8


def _coverage(share: float, *, runs: int, in_run: int, of_run: float, blocks: int = 20) -> float:
    """How often the interval has the true percentile: of a normal, part of whose variance is the run's."""
    rng, truth, tries = np.random.default_rng(11), float(norm.ppf(share)), 200
    hits = 0
    for _ in range(tries):
        of_runs = rng.normal(size=runs)[:, None] * np.sqrt(of_run * 0.9)
        values = of_runs + rng.normal(size=(runs, in_run)) * np.sqrt(1 - of_run * 0.9)
        block = (
            np.arange(runs * in_run) % blocks
            if blocks > runs
            else np.repeat(np.arange(runs) % blocks, in_run)
        )
        made = one_each(values.ravel().round(3), block).percentile(share)
        hits += (made.low is None or made.low <= truth) and (made.high is None or truth <= made.high)
    return hits / tries


def test_too_few_values_have_no_upper_bound_of_a_high_percentile() -> None:
    made = one_each(np.arange(60.0), np.arange(60) % 20).percentile(0.99)
    assert made.value == 59
    assert made.high is None


def test_of_one_block_no_interval_is_known() -> None:
    made = one_each(np.arange(1000.0), np.zeros(1000, dtype=int)).percentile(0.5)
    assert (made.value, made.low, made.high) == (499, None, None)


def test_no_values_have_no_percentile() -> None:
    with pytest.raises(ValueError, match="no values"):
        Histogram.of([]).percentile(0.5)
