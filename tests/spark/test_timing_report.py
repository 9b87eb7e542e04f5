"""`report timing` on a store of planted truth: percentiles, limits by the timers that held, what is not known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
import numpy as np
import pytest
from pyspark.sql import SparkSession

from rocketchaos.harness.rocketmq.timers import timers_ms
from rocketchaos.harness.rocketmq.timing_profiles import FAITHFUL
from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.queries import query
from rocketchaos.spark_reports.report import Report, StoreSummary
from rocketchaos.spark_reports.tables import TABLES
from rocketchaos.spark_reports.timing import timing
from rocketchaos.spark_reports.timing.deciders import deciders
from tests.spark import tables
from tests.spark.duck import compare, duck
from tests.spark.made_of import queries_of

pytestmark = pytest.mark.spark

QUERIES = ("histograms", "scenarios", "timers")
SUMMARY = StoreSummary("file:/store", 0, 0, 0, 0, None, None, 3, {"truncated": 3}, 0)
JAVA = timers_ms(FAITHFUL, "4.9.4", [("java", "4.9.4")])
RUNS = 40
RNG = np.random.default_rng(5)
DELIVERIES = np.concatenate([RNG.lognormal(3, 1, 980), np.linspace(14_900, 15_200, 20)])


def run(key: int, client: str = "java", timers: Mapping[str, int] | None = JAVA) -> dict[str, Any]:
    cell = {
        "scenario": "s",
        "client": client,
        "rocketmq": "4.9.4",
        "cluster": "embedded",
        "timing": "faithful",
    }
    return {"run_key": key, "run": f"r{key}", "source": f"file:/runs/r{key}", "timers_ms": timers, **cell}


def took(key: int, what: str, ms: float, at_least: float | None, cause: str = "kill") -> dict[str, Any]:
    known = None if at_least is None else float(at_least)
    return {"run_key": key, "what": what, "cause": cause, "ms": float(ms), "at_least_ms": known}


STORE: dict[str, list[dict[str, Any]]] = {
    "runs": [
        *(run(key) for key in range(RUNS)),
        run(100, "python", timers_ms(FAITHFUL, "4.9.4", [("python", "2.0.0")])),
        run(101, "old", None),
        run(103, "java 4.9.3"),
        run(104, "java 4.9.3", {**JAVA, "broker.hold-pull": 5_000}),
        # Of a migrated store: what it lacked is null.
        {**run(105), "rocketmq": None, "cluster": None, "timing": None},
        run(106),
        run(102, "java+python", timers_ms(FAITHFUL, "4.9.4", [("java", "4.9.4"), ("python", "2.0.0")])),
    ],
    "messages": [
        *({"run_key": n % RUNS, "delivery_ms": float(ms)} for n, ms in enumerate(DELIVERIES)),
        {"run_key": 0, "delivery_ms": None},
        # The listener may have it before its producer hears of it.
        {"run_key": 101, "delivery_ms": -3.0},
        {"run_key": 103, "delivery_ms": 12_000.0},
        # To three digits that is what its timers allow, and it is more.
        {"run_key": 104, "delivery_ms": 10_004.0},
        # A fault kept it from coming.
        {"run_key": 106, "delivery_ms": 110_000.0},
        # Of no run that is in the store: it doesn't count.
        {"run_key": 999, "delivery_ms": 99_999.0},
    ],
    "faults": [{"run_key": 106, "fault": "pause"}],
    "timings": [
        *(took(n % RUNS, "offset-correction", 16_000 + n, 15_900 + n, "sent") for n in range(57)),
        took(1, "offset-correction", 31_000, 27_000, "sent"),
        took(2, "offset-correction", 29_000, 10_000, "sent"),
        took(3, "offset-correction", 41_000, None, "sent"),
        took(1, "rebalance", 19_000, 0),
        took(2, "rebalance", 25_000, 100),
        # Brokers notice a pause when the channel expires.
        took(3, "rebalance", 140_000, 130_000, "pause"),
        took(100, "rebalance", 10_500, 10_400),
        took(1, "subscription-flip", 40_000, 0),
        took(101, "subscription-flip", 90_000, 80_000),
        took(102, "rebalance", 90_000, 80_000),
        {**took(105, "rebalance", 90_000, None), "cause": None},
    ],
}


@pytest.fixture(scope="module")
def report(spark: SparkSession) -> Report:
    tables.register(spark, **STORE)
    return timing(Answers(spark), SUMMARY)


def rows(report: Report, name: str) -> dict[tuple[str, str], Mapping[str, Any]]:
    table = next(item for item in report.tables if item.name == name)
    return {(row["client"], row.get("began_with", "")): row for row in table.rows}


TOLD, NOTICED = "what brokers get", "what brokers notice late"


def test_percentiles_of_deliveries_are_those_of_numpy_to_three_digits(report: Report) -> None:
    row = rows(report, "delivery")["java", TOLD]
    assert (row["intervals"], row["runs"]) == (1000, RUNS)
    for percent in (50, 90, 99):
        exact = np.quantile(DELIVERIES, percent / 100, method="inverted_cdf")
        assert row[f"p{percent}_ms"] == pytest.approx(exact, rel=0.005)
        assert row[f"p{percent}_low_ms"] <= row[f"p{percent}_ms"] <= row[f"p{percent}_high_ms"]
    assert row["longest_ms"] == DELIVERIES.max()
    assert (row["limit_ms"], row["verdict"]) == (20_000, "within")


def test_deliveries_of_runs_with_faults_are_held_against_no_timers(report: Report) -> None:
    row = rows(report, "delivery")["java", "a sending in a run with faults"]
    assert (row["intervals"], row["runs"], row["longest_ms"]) == (1, 1, 110_000)
    assert (row["verdict"], row["limit_ms"], row["beyond"]) == ("faults decide", None, 0)
    assert "110 s" not in report.headline
    assert "1 min 50 s" not in report.headline


def test_beyond_the_timers_is_told_apart_from_perhaps(report: Report) -> None:
    row = rows(report, "offset_correction")["java", TOLD]
    assert (
        row["limit_ms"] == JAVA["broker.hold-pull"] + JAVA["broker.hold-check"] + JAVA["java.persist-offsets"]
    )
    assert (row["intervals"], row["beyond"], row["perhaps_beyond"], row["verdict"]) == (60, 1, 3, "beyond")
    assert (row["longest_ms"], row["source"]) == (41_000, "file:/runs/r3")
    assert (row["longest_at_least_ms"], row["certain_source"]) == (27_000, "file:/runs/r1")
    assert row["p99_high_ms"] is None


def test_each_client_has_timers_of_its_own(report: Report) -> None:
    found = rows(report, "rebalance")
    assert (found["java", TOLD]["limit_ms"], found["java", TOLD]["verdict"]) == (20_000, "perhaps beyond")
    assert (found["python", TOLD]["limit_ms"], found["python", TOLD]["verdict"]) == (10_000, "beyond")
    # Of one run nothing is known of how runs differ.
    assert found["python", TOLD]["p50_low_ms"] is None


def test_what_brokers_notice_late_has_more_time(report: Report) -> None:
    row = rows(report, "rebalance")["java", NOTICED]
    assert (row["limit_ms"], row["verdict"]) == (150_000, "within")
    assert row["timers"].startswith("expiry of the channel 2 min, scan for expired channels 10 s")


@pytest.mark.parametrize(("client", "name"), [("old", "subscription_flip"), ("java+python", "rebalance")])
def test_unknown_timers_judge_nothing(report: Report, client: str, name: str) -> None:
    row = rows(report, name)[client, TOLD]
    assert (row["verdict"], row["limit_ms"], row["beyond"], row["timers"]) == (
        "timers unknown",
        None,
        0,
        "unknown",
    )
    assert row["intervals"] == 1


def test_runs_with_other_timers_have_a_limit_of_their_own(report: Report) -> None:
    (table,) = (item for item in report.tables if item.name == "delivery")
    found = [
        (row["longest_ms"], row["limit_ms"], row["beyond"], row["source"])
        for row in table.rows
        if row["client"] == "java 4.9.3"
    ]
    assert found == [(12_000, 20_000, 0, "file:/runs/r103"), (10_004, 10_000, 1, "file:/runs/r104")]
    (text,) = (line for line in report.lines if line.startswith("Delivery takes longer"))
    assert (
        "allow (10 s) for 1 of 1 messages with java 4.9.3 4.9.4, faithful, the longest at least 10 s" in text
    )
    assert text.endswith("see ⟦file:/runs/r104⟧.")


def test_what_a_migrated_store_lacks_is_said_to_be_unknown(report: Report) -> None:
    row = rows(report, "rebalance")["java", "unknown"]
    assert (row["rocketmq"], row["timing"], row["verdict"]) == ("unknown", "unknown", "timers unknown")
    assert (row["longest_ms"], row["longest_at_least_ms"], row["limit_ms"]) == (90_000, 0, None)


def test_limits_are_what_the_timers_add_up_to(spark: SparkSession, report: Report) -> None:
    del report  # its views are asked here too
    limits = {(row["timers"], row["limit_ms"]) for row in spark.sql(query("timing_scenarios")).collect()}
    assert len(limits) > 5
    for timers, limit_ms in limits:
        assert sum(decider.ms for decider in deciders(timers)) == (limit_ms or 0)


def test_the_text_begins_with_the_worst_and_leaves_nothing_out(report: Report) -> None:
    assert report.headline.startswith(
        "Offset correction takes longer than RocketMQ's timers allow (25 s) for 1 of 60 queues with java 4.9.4, "
        "faithful, the longest at least 27 s; see ⟦file:/runs/r1⟧"
    )
    text = "\n".join(report.lines)
    assert "Delivery: p99 is 15 s with java 4.9.4, faithful (40 runs): long polling (15 s) decides." in text
    assert "Runs in older folders, which don't record RocketMQ's timers: 1." in text
    assert "Run folders in quarantine, not counted here: 3." in text
    assert len(report.lines) <= 12


def test_figures_have_the_timers_as_lines(report: Report) -> None:
    figures = {figure.name: figure for figure in report.figures}
    assert set(figures) == {f"{what}-faithful" for what in
                            ("rebalance", "subscription-flip", "offset-correction", "delivery")} | {
                                "rebalance-unknown"}  # fmt: skip
    drawn = [note.text for note in figures["offset-correction-faithful"].plot.layout.annotations]
    assert sorted(drawn) == ["check of held pulls 5 s", "long polling 15 s", "persisting of offsets 5 s"]


@pytest.fixture(scope="module")
def theirs(spark: SparkSession, report: Report) -> Iterator[duckdb.DuckDBPyConnection]:
    del report  # its views are asked here too
    with duck(spark) as connection:
        yield connection


@pytest.mark.parametrize("name", QUERIES)
def test_duckdb_answers_the_same_to_the_same_text(
    spark: SparkSession, theirs: duckdb.DuckDBPyConnection, name: str
) -> None:
    assert compare(spark, theirs, f"timing_{name}")


def test_each_part_shows_the_queries_that_it_is_made_of(spark: SparkSession, report: Report) -> None:
    del report  # its views are asked here too
    made, shown = queries_of(spark, timing)
    assert made == shown


def test_an_empty_store_has_nothing_to_time(spark: SparkSession) -> None:
    tables.register(spark)
    made = timing(Answers(spark), SUMMARY)
    assert made.headline.startswith("There is nothing to time")
    assert not made.figures
    assert all(not table.rows for table in made.tables)
    assert {table.name for table in made.tables} > {"delivery", "rebalance", "scenarios", "timers"}
    assert set(TABLES) >= {"timings"}
