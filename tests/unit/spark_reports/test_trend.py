from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import Table

from rocketchaos.spark_reports.statistics.trend import cochran_armitage


def test_it_is_statsmodels_test_of_an_ordinal_association() -> None:
    runs, hits = [30, 40, 20, 50, 35], [29, 36, 17, 41, 26]
    middles = np.cumsum(runs) - (np.array(runs) - 1) / 2
    table = Table(np.array([hits, np.array(runs) - hits]), shift_zeros=False)
    theirs = table.test_ordinal_association(row_scores=np.array([1, 0]), col_scores=middles)
    ours = cochran_armitage(runs, hits)
    assert ours.p == pytest.approx(theirs.pvalue)
    assert ours.direction == -1


@pytest.mark.parametrize(("block", "blocks"), [pytest.param(1, 60, marks=pytest.mark.nightly), (30, 50)])
def test_rows_without_a_trend_alarm_at_the_stated_rate(block: int, blocks: int) -> None:
    rng, seeds = np.random.default_rng(1), 1000
    alarms = sum(
        cochran_armitage([block] * blocks, [int(hit) for hit in rng.binomial(block, 0.9, blocks)]).p <= 0.05
        for _ in range(seeds)
    )
    assert 0.02 <= alarms / seeds <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / seeds)


@pytest.mark.parametrize("direction", [1, -1])
def test_a_slow_slide_is_found_with_its_direction(direction: int) -> None:
    rng, seeds, found = np.random.default_rng(2), 200, 0
    rates = np.linspace(0.99, 0.6, 100)[::-direction]
    for _ in range(seeds):
        trend = cochran_armitage([1] * 100, [int(hit) for hit in rng.random(100) < rates])
        found += trend.p <= 0.05 and trend.direction == direction
    assert found / seeds >= 0.75


@pytest.mark.parametrize(("runs", "hits"), [([], []), ([1], [1]), ([5, 5], [5, 5]), ([5, 5], [0, 0])])
def test_where_all_end_alike_there_is_no_trend(runs: list[int], hits: list[int]) -> None:
    assert cochran_armitage(runs, hits).p == 1.0
