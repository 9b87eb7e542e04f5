"""The bench complains of what must not be."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from tests.benchmarks.spark.beside import difference
from tests.benchmarks.spark.reporting import Asked, Reported
from tests.benchmarks.spark.table import SKEW_LIMIT, Measured
from tests.benchmarks.spark.watching import Watched

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SKEWED = Watched(skew=SKEW_LIMIT + 1, skewed_stage="stage 7: collect, 8 tasks")


def measured(asked: Asked | None = None, report: Watched | None = None) -> Measured:
    sizes = Reported(10, 1, 1, 1.0, {"cells": asked or Asked([Watched()])}, {"timing": report or Watched()})
    return Measured(0.0, reports=[sizes])


def test_nothing_is_wrong_where_nothing_is() -> None:
    assert measured(Asked([Watched(skew=SKEW_LIMIT)])).complaints() == []


@pytest.mark.parametrize("wrong", [measured(Asked([SKEWED])), measured(report=SKEWED)])
def test_a_skewed_stage_is_reported(wrong: Measured) -> None:
    (text,) = wrong.complaints()
    assert text.endswith(": the longest task takes 5.0 times the median one: stage 7: collect, 8 tasks")


def test_a_query_that_duckdb_refuses_is_reported() -> None:
    (text,) = measured(Asked([Watched()], refusal="Parser Error: LATERAL")).complaints()
    assert text == "cells: DuckDB does not take it: Parser Error: LATERAL"


def test_other_rows_are_reported() -> None:
    (text,) = measured(Asked([Watched()], difference=difference([(1, "a")], [(1, "b")]))).complaints()
    assert text.startswith("cells: Spark and DuckDB give different rows: [1, 'a'] only by Spark, one of 1; ")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ([(1, "a"), (2, None)], [(2, None), (1, "a")]),
        ([(0.1 + 0.2, 3)], [(0.3, Decimal(3))]),
        # PySpark gives this machine's time, without saying so.
        ([(NOON.astimezone().replace(tzinfo=None),)], [(NOON,)]),
        ([({"b": 1, "a": 2}, [1.0])], [({"a": 2, "b": 1}, [1])]),
    ],
)
def test_what_differs_only_in_form_is_the_same(ours: list[object], theirs: list[object]) -> None:
    assert difference(ours, theirs) == ""


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [([(1,), (1,)], [(1,)]), ([(0.3,)], [(0.3000001,)]), ([(None,)], [("None",)]), ([], [(1,)])],
)
def test_what_differs_is_found(ours: list[tuple[object]], theirs: list[tuple[object]]) -> None:
    assert difference(ours, theirs)
