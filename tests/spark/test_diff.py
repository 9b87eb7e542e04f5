"""The queries of the report on what is new, on rows made by hand, by Spark and by DuckDB, and the report."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import duckdb
import pytest
from pyspark.sql import SparkSession

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.diff import diff, diff_between, newest, newest_section
from rocketchaos.spark_reports.diff.sides import NEWEST, between
from rocketchaos.spark_reports.report import Report, StoreSummary
from tests.spark import tables
from tests.spark.duck import compare, duck
from tests.spark.flakiness_rows import BEGIN, Row, finding_row, run_rows
from tests.spark.made_of import queries_of

pytestmark = pytest.mark.spark

OLD, NEW = "20260301T000000Z-aa-1", "20260302T000000Z-bb-1"
SUMMARY = StoreSummary(
    "store", 0, 0, 0, 0, None, None, 0, {}, 0, views=["CREATE OR REPLACE TEMPORARY VIEW sides AS\nx;"]
)


def night(first: int, batch: str, rocketmq: str, regressed: str, slow: float) -> dict[str, list[Row]]:
    """A regressed scenario of six runs, a sound one, and one that came or went with the night."""
    runs = [
        *run_rows(
            regressed, first, scenario="regressed", batch=batch, rocketmq=rocketmq, client_version=rocketmq
        ),
        *run_rows("++++++", first + 6, scenario="sound", batch=batch),
        *run_rows("-E", first + 12, scenario=batch[-4:-2], batch=batch),
    ]
    bad = [run for run in runs if not run["as_expected"]]
    return {
        "runs": runs,
        "findings": [finding_row(run["run_key"], f"{run['scenario']} <n>") for run in bad]
        + [
            finding_row(run["run_key"], f"{run['scenario']} {kind}", kind=kind)
            for run in bad
            if run["scenario"] == "regressed"
            for kind in ("event", "log")
        ],
        "checks": [
            {
                "run_key": run["run_key"], "position": 0, "claim": "E14", "section": "anomaly",
                "holds": "yes" if run["as_expected"] else "no",
            }
            for run in runs
        ],
        "timings": [
            {"run_key": run["run_key"], "what": "rebalance", "ms": slow + float(run["run_key"])}
            for run in runs
        ],
        "messages": [
            {"run_key": run["run_key"], "message_key": f"orders-{n}", "delivery_ms": 100.0 + n}
            for run in runs
            for n in (1, 2)
        ],
    }  # fmt: skip


@pytest.fixture(scope="module")
def two_nights(spark: SparkSession) -> None:
    first = night(1, OLD, "5.5.0", "++++++", 1_000)
    second = night(101, NEW, "4.9.4", "------", 5_000)
    tables.register(spark, **{name: first[name] + second[name] for name in first})


@pytest.fixture(scope="module")
def report(spark: SparkSession, two_nights: None) -> Report:
    return diff(Answers(spark), SUMMARY)


@pytest.fixture(scope="module")
def theirs(spark: SparkSession, two_nights: None) -> Iterator[duckdb.DuckDBPyConnection]:
    with duck(spark) as connection:
        yield connection


@pytest.mark.parametrize("name", ["cells", "claims", "causes", "timing"])
def test_spark_and_duckdb_count_alike(
    spark: SparkSession, theirs: duckdb.DuckDBPyConnection, name: str
) -> None:
    assert compare(spark, theirs, f"diff_{name}") >= 3


def rows(report: Report, name: str) -> list[Row]:
    return [dict(row) for row in next(table for table in report.tables if table.name == name).rows]


def test_the_planted_regression_comes_first_with_a_run_of_now(report: Report) -> None:
    (cell,) = rows(report, "new_cells")
    assert (cell["change"], cell["certainty"], cell["scenario"]) == ("became failing", "sure", "regressed")
    assert cell["changed"] == "rocketmq 5.5.0 → 4.9.4"
    assert [cell[name] for name in ("before", "before_of", "after", "after_of", "source")] == [
        6,
        6,
        0,
        6,
        "runs/0106",
    ]
    assert (cell["difference"], cell["low"]) == (-1, -1)
    assert cell["high"] < -0.4
    assert cell["p"] < 0.01
    assert "first: regressed java 4.9.4 became failing: 6 of 6 → 0 of 6 as expected" in report.headline


def test_its_claim_its_cause_and_its_time_are_reported(report: Report) -> None:
    assert [(row["claim"], row["change"], row["scenario"]) for row in rows(report, "new_claims")] == [
        ("E14", "no longer so", "regressed")
    ]
    causes = {
        row["signature"]: tuple(row[name] for name in ("change", "before", "before_of", "after", "after_of"))
        for row in rows(report, "new_causes")
    }
    # Facts have lines of logs and most events of bad runs only: the good ones before may have had them too.
    assert causes == {
        "regressed <n>": ("new", 0, 6, 6, 6), "bb <n>": ("new", 0, 0, 2, 2), "aa <n>": ("gone", 2, 2, 0, 0),
    }  # fmt: skip
    assert {(row["scenario"], row["what"], row["change"]) for row in rows(report, "new_timing")} == {
        ("regressed", "Rebalance", "slower"), ("sound", "Rebalance", "slower"),
    }  # fmt: skip


def test_cells_of_one_night_are_no_change_but_named(report: Report) -> None:
    assert any(line.startswith("1 cell without runs before, 1 of them") for line in report.lines)


def test_the_page_shows_the_view_that_it_was_made_of(spark: SparkSession, two_nights: None) -> None:
    first = (BEGIN + timedelta(hours=0), BEGIN + timedelta(hours=50))
    second = (first[1], BEGIN + timedelta(hours=200))
    nights = ["/".join(f"{at:%Y-%m-%dT%H:%M}" for at in night) for night in (first, second)]
    try:
        there, verdict = diff_between(spark, SUMMARY, between(*nights))
        back, other = diff_between(spark, SUMMARY, between(*reversed(nights)))
    finally:
        spark.sql(NEWEST.statement.rstrip(";"))
    assert (verdict, other) == ("worse", "not worse")
    assert [row["change"] for row in rows(there, "new_cells")] == ["became failing"]
    assert [row["change"] for row in rows(back, "new_cells")] == ["became sound"]
    (statement,) = there.store.views
    assert "VIEW sides AS" in statement
    assert "TIMESTAMP '2026-03-01 02:00:00" in statement


def test_every_table_shows_the_queries_that_it_is_made_of(spark: SparkSession, two_nights: None) -> None:
    def of_view(asked: Answers, summary: StoreSummary) -> Report:
        return Report("diff", "What is new", "", [], [newest_section(newest(asked))], summary)

    made, shown = queries_of(spark, of_view)
    assert made == shown


def test_a_store_of_one_ingest_has_nothing_to_compare(spark: SparkSession) -> None:
    tables.register(spark, **night(1, OLD, "5.5.0", "++++++", 1_000))
    alone = diff(Answers(spark), SUMMARY)
    assert alone.headline.startswith(
        "Nothing can be compared, because one side has no runs (all runs before it)"
    )
    assert not alone.lines
    assert not any(
        rows(alone, table.name)
        for table in alone.tables
        if table.name in ("new_cells", "new_claims", "new_timing")
    )
