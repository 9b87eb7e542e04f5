"""The queries of the divergence report: by another engine too, and beside the parts that are made of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import pytest
from pyspark.sql import SparkSession

from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.divergence import divergence
from tests.spark.duck import compare, duck
from tests.spark.made_of import queries_of
from tests.spark.tables import register

pytestmark = pytest.mark.spark

QUERIES = ("classes", "outcomes", "owners", "subscriptions", "witnesses")
RUNS = 6
"""Of each cell: with half as many no test could tell them apart, so that others would count for more."""
JAVA = Cell("tags", "java", "5.5.0", "embedded", "compressed")
GRPC = JAVA._replace(client="grpc 5.1.2")


def run(key: int, cell: Cell, outcome: str, **more: Any) -> dict[str, Any]:
    started = datetime(2026, 11, 1, tzinfo=UTC) + timedelta(hours=key)
    known = {"run_key": key, "run": f"r{key}", "source": f"file:/runs/{key}", "reason": f"because of {key}"}
    judged = {"expected": "reproduced", "as_expected": outcome == "reproduced"}
    return {**known, **judged, "outcome": outcome, "started": started, **cell._asdict(), **more}


def messages(key: int, number: int, message_class: str, **more: Any) -> list[dict[str, Any]]:
    return [{"run_key": key, "message_class": message_class, **more}] * number


def rows() -> dict[str, list[dict[str, Any]]]:
    runs, facts, held = [], [], []
    for n in range(RUNS):
        java, grpc = n, n + RUNS
        runs.append(run(java, JAVA, "reproduced"))
        facts += messages(java, 4, "delivered", owner="a", deliveries=["a"], broker_track="CONSUMED")
        facts += messages(java, 2 + n % 2, "filtered-by-client", broker_track="CONSUMED")
        facts += messages(java, 2, "lost", dashboard_track="NOT_CONSUME_YET")
        if n == 0:
            runs.append(run(grpc, GRPC, "inconclusive", trouble="precondition"))
        else:
            runs.append(run(grpc, GRPC, "reproduced" if n == 5 else "not-reproduced"))
        facts += messages(grpc, 7 + n % 2, "delivered", deliveries=["b"], dashboard_track="CONSUMED")
        for broker in ("broker-a", "broker-b"):
            held += [
                {"run_key": java, "n": at, "consumer_group": "g", "broker": broker, "topic": "orders",
                 "expression": f"tag{at % 2}", "previous_expression": before}
                for at, before in ((5, None), (8, "tag1"))
            ]  # fmt: skip
    runs.append(run(99, GRPC, "error", trouble="environment"))
    return {"runs": runs, "messages": facts, "subscriptions": held}


@pytest.fixture(scope="module")
def views(spark: SparkSession) -> SparkSession:
    register(spark, **rows())
    return spark


@pytest.fixture(scope="module")
def theirs(views: SparkSession) -> Iterator[duckdb.DuckDBPyConnection]:
    with duck(views) as connection:
        yield connection


@pytest.mark.parametrize("name", QUERIES)
def test_another_engine_gets_the_same_from_the_same_text(
    views: SparkSession, theirs: duckdb.DuckDBPyConnection, name: str
) -> None:
    assert compare(views, theirs, f"divergence_{name}")


def test_each_part_shows_the_queries_that_it_is_made_of(views: SparkSession) -> None:
    made, shown = queries_of(views, divergence)
    assert made == shown
