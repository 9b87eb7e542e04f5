from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.divergence import divergence
from rocketchaos.spark_reports.queries import query
from rocketchaos.spark_reports.report import Report, StoreSummary
from tests.spark.tables import register

pytestmark = pytest.mark.spark

JAVA = Cell("tags", "java", "5.5.0", "embedded", "compressed")
PYTHON = JAVA._replace(client="python")
GRPC = JAVA._replace(client="grpc")
MIXED = JAVA._replace(client="java+python")
SUMMARY = StoreSummary("file:///store", 0, 0, 0, 0, None, None, 0, {}, 0)


def run(key: int, cell: Cell, outcome: str = "reproduced", **more: Any) -> dict[str, Any]:
    started = datetime(2026, 11, 1, tzinfo=UTC) + timedelta(hours=key)
    known = {"run_key": key, "run": f"r{key}", "source": f"file:///runs/{key}", "outcome": outcome}
    return {**known, "started": started, **cell._asdict(), **more}


def messages(key: int, message_class: str, number: int, **more: Any) -> list[dict[str, Any]]:
    return [{"run_key": key, "message_class": message_class, **more}] * number


def subscription(key: int, n: int, broker: str, now: str | None, before: str | None = None) -> dict[str, Any]:
    where = {"run_key": key, "n": n, "consumer_group": "g", "broker": broker, "topic": "orders"}
    return {**where, "expression": now, "previous_expression": before}


HEARD = {"owner": "a", "deliveries": ["a"], "broker_track": "CONSUMED"}
"""As the oracle tells: who got it first from a queue that is owned, is its owner."""
RUNS = [
    *(run(key, JAVA, expected="reproduced", as_expected=key != 3) for key in (1, 2, 3)),
    run(4, JAVA, "error", trouble="harness"),
    run(5, JAVA, "inconclusive", trouble="precondition"),
    # Neither the anomaly nor its absence, but behaviour: nothing troubled it.
    run(6, PYTHON, "inconclusive"),
    run(7, GRPC, "error", trouble="environment"),
    # Nobody knows when it was.
    run(8, MIXED, "not-reproduced", started=None),
]
MESSAGES = [
    *messages(1, "delivered", 1, **HEARD),
    *messages(1, "filtered-by-client", 1, broker_track="CONSUMED"),
    *messages(2, "delivered", 1, **HEARD),
    *messages(2, "filtered-by-client", 1, broker_track="CONSUMED", dashboard_track="CONSUMED_BUT_FILTERED"),
    *messages(3, "delivered", 2, **HEARD),
    *messages(4, "lost", 2, broker_track="CONSUMED"),
    *messages(5, "lost", 2, broker_track="CONSUMED"),
    *messages(6, "delivered", 1, owner="b", deliveries=["b", "c"]),
    *messages(6, "in-retry", 1, deliveries=["b"]),
    *messages(6, "dead-letter", 1, deliveries=["a", "a"]),
    *messages(8, "delivered", 1, deliveries=["a"], dashboard_track="NOT_CONSUME_YET"),
    *messages(99, "lost", 5, broker_track="CONSUMED"),  # of an ingest under way: its run isn't there
]
SUBSCRIPTIONS = [
    subscription(1, 5, "broker-a", "tagA"),
    subscription(1, 9, "broker-a", "tagB", "tagA"),
    subscription(1, 6, "broker-b", "tagB"),
    subscription(2, 5, "broker-a", "tagB"),
    {**subscription(2, 6, "broker-a", "*"), "topic": "%RETRY%g"},
    subscription(3, 5, "broker-a", "tagA"),
    subscription(3, 6, "broker-b", "tagB"),
    subscription(4, 5, "broker-a", "tagC"),
    subscription(6, 5, "broker-a", "tagA"),
    subscription(6, 8, "broker-a", None, "tagA"),
]


@pytest.fixture(scope="module")
def store(spark: SparkSession) -> Iterator[SparkSession]:
    register(spark, runs=RUNS, messages=MESSAGES, subscriptions=SUBSCRIPTIONS)
    yield spark
    register(spark)


def rows(store: SparkSession, name: str, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in columns) for row in store.sql(query(name)).collect()]


@pytest.fixture(scope="module")
def classes(store: SparkSession) -> list[tuple[Any, ...]]:
    return rows(store, "divergence_classes", "client", "kind", "messages", "number", "runs", "example")


def of(found: list[tuple[Any, ...]], client: str, kind: str) -> list[tuple[Any, ...]]:
    return [row[2:] for row in found if row[:2] == (client, kind)]


def test_messages_of_a_class_by_run(classes: list[tuple[Any, ...]]) -> None:
    assert of(classes, "java", "filtered_by_client") == [
        (2, "0", 1, "file:///runs/3"),
        (2, "1", 2, "file:///runs/2"),
    ]
    assert of(classes, "java", "lost") == [(2, "0", 3, "file:///runs/3")]
    assert of(classes, "python", "in_retry") == [(3, "1", 1, "file:///runs/6")]
    assert {row[0] for row in classes} == {"java", "python", "java+python"}


def test_the_typical_run_is_the_newest_with_the_most_frequent_classes(classes: list[tuple[Any, ...]]) -> None:
    assert of(classes, "java", "classes") == [(2, "1 0 1 0 0 0 0 0 0", 2, "file:///runs/2")]
    assert of(classes, "java+python", "classes") == [(1, "1 0 0 0 0 0 0 0 0", 1, "file:///runs/8")]


def test_witnesses_against_each_other_by_run(classes: list[tuple[Any, ...]]) -> None:
    def numbers(client: str, kind: str) -> dict[str, int]:
        return {row[1]: row[2] for row in of(classes, client, kind)}

    assert numbers("java", "broker_consumed_unheard") == {"0": 1, "1": 2}
    assert numbers("java", "dashboard_consumed_unheard") == {"0": 3}
    assert numbers("java", "tools_differ") == {"0": 2, "1": 1}
    assert numbers("java", "both_asked") == {"0": 2, "1": 1}
    assert numbers("python", "broker_asked") == {"0": 1}
    assert numbers("java+python", "dashboard_unconsumed_heard") == {"1": 1}
    assert numbers("java+python", "broker_unconsumed_heard") == {"0": 1}


def test_what_two_witnesses_say_of_a_class(store: SparkSession) -> None:
    columns = ("client", "message_class", "broker_track", "dashboard_track", "number", "runs")
    assert rows(store, "divergence_witnesses", *columns) == [
        ("java", "delivered", "CONSUMED", None, 1, 2),
        ("java", "delivered", "CONSUMED", None, 2, 1),
        ("java", "filtered-by-client", "CONSUMED", None, 1, 1),
        ("java", "filtered-by-client", "CONSUMED", "CONSUMED_BUT_FILTERED", 1, 1),
        ("java+python", "delivered", None, "NOT_CONSUME_YET", 1, 1),
    ]


def test_how_runs_ended(store: SparkSession) -> None:
    columns = ("client", "outcome", "expected", "as_expected", "trouble", "runs", "example")
    assert rows(store, "divergence_outcomes", *columns) == [
        ("grpc", "error", None, None, "environment", 1, "file:///runs/7"),
        ("java", "error", None, None, "harness", 1, "file:///runs/4"),
        ("java", "inconclusive", None, None, "precondition", 1, "file:///runs/5"),
        ("java", "reproduced", "reproduced", False, None, 1, "file:///runs/3"),
        ("java", "reproduced", "reproduced", True, None, 2, "file:///runs/2"),
        ("java+python", "not-reproduced", None, None, None, 1, "file:///runs/8"),
        ("python", "inconclusive", None, None, None, 1, "file:///runs/6"),
    ]


def test_what_brokers_held_at_the_end(store: SparkSession) -> None:
    columns = ("client", "topic", "held", "runs", "runs_with_differing_brokers", "flips_a_run")
    assert rows(store, "divergence_subscriptions", *columns) == [
        ("java", "orders", None, 1, 1, 0.0),
        ("java", "orders", "tagB", 2, 0, 0.5),
        ("python", "orders", None, 1, 0, 0.0),
    ]


def test_deliveries_out_of_queues_that_nobody_owns(store: SparkSession, report: Report) -> None:
    assert rows(store, "divergence_owners", "client", "number", "runs", "example") == [
        ("java+python", 1, 1, "file:///runs/8"),
        ("python", 2, 1, "file:///runs/6"),
    ]
    (table,) = (item for item in report.tables if item.name == "owners")
    found = [(row["client"], row["unowned"], row["runs"], row["of_runs"]) for row in table.rows]
    assert found == [("java+python", 1, 1, 1), ("python", 2, 1, 1)]


@pytest.fixture(scope="module")
def report(store: SparkSession) -> Report:
    return divergence(Answers(store), SUMMARY)


def test_the_report_has_rows_that_fit_their_schemas(store: SparkSession, report: Report) -> None:
    for table in report.tables:
        data = [tuple(row[name] for name in table.schema.names) for row in table.rows]
        assert store.createDataFrame(data, table.schema).schema == table.schema, table.name


def test_a_cell_of_errors_alone_is_counted_and_not_compared(report: Report) -> None:
    tables = {table.name: table for table in report.tables}
    cells = {row["client"]: (row["runs"], row["runs_left_out"]) for row in tables["cells"].rows}
    assert cells == {"java": (3, 2), "grpc": (0, 1), "python": (1, 0), "java+python": (1, 0)}
    assert "grpc" not in {row[side] for row in tables["differences"].rows for side in ("first", "second")}
    assert report.lines[-1].startswith(
        "Not compared: 2 runs that ended in an error or were interrupted, and 0 folders in quarantine"
    )
    assert "Compared only by outcome: 1 run in which a precondition did not hold" in report.lines[-1]
    expected = [row for row in tables["expected"].rows if row["client"] == "java"]
    assert [(row["expected"], row["inconclusive"], row["left_out_for"]) for row in expected] == [
        ("reproduced", 0, None),
        (None, 1, "harness 1"),
    ]
