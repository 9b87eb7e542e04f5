"""Rows of this process are the same with PyArrow, by which Spark has them in its plan, and without it."""

from __future__ import annotations

import importlib.util
from datetime import UTC, datetime

import pytest
from pyspark.sql import SparkSession

from rocketchaos.spark_reports.local_rows import local_rows
from rocketchaos.spark_reports.tables import RUNS

pytestmark = pytest.mark.spark

KNOWN = {
    "run": "ä 1",
    "run_key": 2**62,
    "started": datetime(2026, 3, 1, 2, 0, 0, 1000, tzinfo=UTC),
    "timers_ms": {"broker.hold-pull": 5_000},
    "as_expected": False,
    "seconds": 0.1,
}


def test_a_row_and_one_of_which_nothing_is_known(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [[KNOWN.get(name) for name in RUNS.columns], [None] * len(RUNS.columns)]
    with_arrow = local_rows(spark, rows, RUNS.schema)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    without = local_rows(spark, rows, RUNS.schema)
    assert with_arrow.schema == without.schema == RUNS.schema
    assert with_arrow.collect() == without.collect()
    assert (
        with_arrow.where("run_key = 4611686018427387904 AND seconds = 0.1 AND NOT as_expected").count() == 1
    )


def test_no_rows_keep_their_columns(spark: SparkSession) -> None:
    none = local_rows(spark, [], RUNS.schema)
    assert (none.schema, none.count()) == (RUNS.schema, 0)
