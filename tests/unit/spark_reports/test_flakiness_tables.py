"""The tables of the flakiness report."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.flakiness.assess import assess
from rocketchaos.spark_reports.flakiness.cells import Counts
from rocketchaos.spark_reports.flakiness.read import Block, Facts
from rocketchaos.spark_reports.flakiness.tables import cells_table

NOW = datetime(2026, 3, 1, tzinfo=UTC)
KEY = Cell("s", "java", "5.5.0", "embedded", "compressed")


@pytest.mark.parametrize(
    ("hits", "trend"), [((10, 9), "none"), ((10, 8, 4, 0), "falling"), ((0, 4, 8, 10), "rising")]
)
def test_a_trend_that_chance_explains_has_no_name(hits: tuple[int, ...], trend: str) -> None:
    counts = Counts(
        runs=10 * len(hits), product=10 * len(hits), reproduced=sum(hits), not_reproduced=0, inconclusive=0,
        environment_errors=0, harness_errors=0, broken_off=0, judged=10 * len(hits), as_expected=sum(hits),
        expecting=10 * len(hits), unplaced=0, hosts=1, first_started=NOW, last_started=NOW,
    )  # fmt: skip
    blocks = [Block(10, hit, 1, NOW, NOW, "r", "runs/r", "runs/r") for hit in hits]
    facts = Facts({KEY: counts}, {KEY: blocks}, [], {}, {}, [], [], [])
    (row,) = cells_table(assess(facts)).rows
    assert row["trend"] == trend
    assert (row["trend_p"] <= 0.05) is (trend != "none")
