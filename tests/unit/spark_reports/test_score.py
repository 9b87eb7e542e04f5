from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta
from statsmodels.stats.proportion import proportion_confint

from rocketchaos.harness.core.intervals import wilson_interval
from rocketchaos.spark_reports.flakiness.cells import ALIKE_RUNS, Verdict, judge, more_runs
from rocketchaos.spark_reports.statistics.score import alike_runs_needed, chance_above


def test_wilson_s_interval_is_that_of_statsmodels() -> None:
    for runs in (1, 2, 20, 1000):
        for hits in {0, 1, runs // 3, runs - 1, runs}:
            assert wilson_interval(hits, runs) == pytest.approx(
                proportion_confint(hits, runs, method="wilson")
            )


def test_the_score_agrees_with_jeffreys_interval() -> None:
    low, _ = proportion_confint(17, 20, alpha=0.1, method="jeffreys")
    assert chance_above(low, 17, 20) == pytest.approx(0.95)


@pytest.mark.nightly
def test_the_score_is_calibrated() -> None:
    """Where rates come from the prior, those said to be above with chance q are so in a share of q."""
    rng = np.random.default_rng(0)
    rates = beta.rvs(0.5, 0.5, size=20_000, random_state=rng)
    said = np.array([chance_above(0.9, int(hits), 20) for hits in rng.binomial(20, rates)])
    for low, high in ((0.0, 0.2), (0.2, 0.6), (0.6, 1.0)):
        chosen = (said >= low) & (said <= high)
        assert (rates[chosen] > 0.9).mean() == pytest.approx(said[chosen].mean(), abs=0.03)


def test_so_many_runs_without_exception_are_enough() -> None:
    assert ALIKE_RUNS == alike_runs_needed() == 18
    assert chance_above(0.9, 18, 18) >= 0.95 > chance_above(0.9, 17, 17)
    assert alike_runs_needed(0.99) == 191


@pytest.mark.parametrize(
    ("hits", "runs", "verdict", "more"),
    [
        (0, 0, Verdict.UNKNOWN, 18),
        (1, 1, Verdict.LIKELY_PASS, 17),
        (0, 1, Verdict.LIKELY_FAIL, 17),
        (17, 17, Verdict.LIKELY_PASS, 1),
        (18, 18, Verdict.PASS, 0),
        (0, 18, Verdict.FAIL, 0),
        (1, 2, Verdict.FLAKY, 0),
        (999_999, 1_000_000, Verdict.FLAKY, 0),
    ],
)
def test_a_verdict_needs_enough_runs_unless_both_ends_were_seen(
    hits: int, runs: int, verdict: Verdict, more: int
) -> None:
    assert (judge(hits, runs), more_runs(hits, runs)) == (verdict, more)


@pytest.mark.parametrize(("hits", "runs"), [(1, 0), (2, 1), (-1, 3), (0, 0)])
def test_what_is_no_proportion_is_refused(hits: int, runs: int) -> None:
    with pytest.raises(ValueError, match="no proportion"):
        chance_above(0.9, hits, runs)
