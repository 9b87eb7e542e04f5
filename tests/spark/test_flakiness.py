"""The queries of the flakiness report on rows made by hand, and the report that comes of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import count

import duckdb
import pytest
from pyspark.sql import SparkSession

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.flakiness import figures, flakiness
from rocketchaos.spark_reports.flakiness.read import Facts, read
from rocketchaos.spark_reports.report import Report, StoreSummary
from tests.spark import tables
from tests.spark.duck import compare, duck
from tests.spark.flakiness_rows import BEGIN, Row, finding_row, run_row, run_rows
from tests.spark.made_of import queries_of

pytestmark = pytest.mark.spark

QUERIES = ("cells", "history", "versions", "causes", "signatures", "conditions", "costs", "known")
MINUTE = 60.0
NOTHING = StoreSummary("store", 0, 0, 0, 0, None, None, 0, {}, 0)


def key(scenario: str, client: str = "java", rocketmq: str = "5.5.0") -> Cell:
    return Cell(scenario, client, rocketmq, "embedded", "compressed")


class Rows:
    """One store for all tests: every scenario is a case of its own."""

    def __init__(self) -> None:
        self._next = count(1)
        self.runs: list[Row] = []
        self.findings: list[Row] = []
        self.conditions: list[Row] = []

    def add(self, scenario: str, ends: str, **more: object) -> list[Row]:
        rows = [run_row(next(self._next), end, scenario=scenario, **more) for end in ends]
        self.runs += rows
        return rows

    def measure(self, run: Row, name: str, value: float | None) -> None:
        self.conditions.append({"run_key": run["run_key"], "name": name, "value": value})

    def find(self, run: Row, signature: str, **more: object) -> None:
        self.findings.append(finding_row(run["run_key"], signature, **more))


def make() -> Rows:
    store = Rows()
    store.add("steady", "+" * 18)
    for run in store.add("broken", "+EE+HI+"):
        if run.get("trouble") in ("environment", "harness"):
            store.find(run, "port <n> is in use", kind="trouble", side=run["trouble"])
    store.add("only-errors", "EHI")
    for run in store.add("measured", "rnnr")[:3:2]:
        store.find(run, "lost-agree", kind="invariant", text="lost: the members agree")
    store.add("single", "+")
    store.add("owned", "+", scenario_owner="billing")
    store.add("owned", "-", scenario_owner="payments", seconds=MINUTE * 3) and store.add("owned", "+")
    mixed = store.add("mixed", "+-P+")
    store.find(mixed[1], "delivered: <n> of <n>")
    store.find(mixed[2], "delivered: <n> of <n>", occurrences=4)
    store.find(mixed[2], "precondition: not reached within <n> s", kind="trouble")
    for place, run in enumerate(mixed):
        store.find(run, "a slow disk", kind="log", side="environment")
        store.measure(run, "load_start", float(run["as_expected"] is False) + place / 10)
        store.measure(run, "beside", 1.0)
        store.measure(run, "steps_s", float(place))
        store.measure(run, "start_gap_ms", None if place else float("nan"))
    store.add("tied", "+-+-", started=BEGIN)
    store.add("jumped", "++") and store.add("jumped", "-", clock_jump_ms=-3_600_000)
    store.add("jumped", "-", started=None) and store.add("jumped", "+", clock_jump_ms=999)
    store.add("many", "+" * 300 + "-" * 150)
    store.add("changed", "+" * 30, harness_version="0.1.0")
    store.add("changed", "+--------------+--------------", harness_version="0.2.0")
    store.add("upgraded", "+" * 20, rocketmq="4.9.4", client_version="4.9.4")
    store.add("upgraded", "-" * 5, client="java 4.9.4", client_version="4.9.4")
    store.add("upgraded", "+----", client_version="5.5.0")
    # Of a migrated store: what it lacked is null. A new run calls it so whose cluster never started.
    store.add("migrated", "++-+", cluster=None, rocketmq=None)
    store.add("migrated", "E", cluster="unknown", rocketmq="unknown")
    store.add("migrated", "+-", cluster=None, rocketmq="5.5.0")
    return store


@pytest.fixture(scope="module")
def store() -> Rows:
    return make()


@pytest.fixture(scope="module")
def views(spark: SparkSession, store: Rows) -> None:
    """Anew for this module: other tests register rows of their own."""
    tables.register(spark, runs=store.runs, findings=store.findings, conditions=store.conditions)


@pytest.fixture(scope="module")
def facts(spark: SparkSession, views: None) -> Facts:
    return read(Answers(spark))


@pytest.fixture(scope="module")
def report(spark: SparkSession, facts: Facts) -> Report:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rocketchaos.spark_reports.flakiness.read", lambda _: facts)
        return flakiness(Answers(spark), NOTHING)


def row(report: Report, scenario: str, client: str = "java", rocketmq: str = "5.5.0") -> Row:
    cells = next(table for table in report.tables if table.name == "cells")
    (found,) = (
        dict(item)
        for item in cells.rows
        if (item["scenario"], item["client"], item["rocketmq"]) == (scenario, client, rocketmq)
    )
    return found


def test_environment_and_harness_are_apart_from_the_product(facts: Facts, report: Report) -> None:
    counts = facts.counts[key("broken")]
    assert (counts.runs, counts.product, counts.judged, counts.as_expected) == (7, 3, 3, 3)
    assert (counts.environment_errors, counts.harness_errors, counts.broken_off) == (2, 1, 1)
    assert row(report, "broken")["verdict"] == "PASS?"
    assert row(report, "broken")["flips"] == 0
    (line,) = (line for line in report.lines if "lost, never counted as flaky" in line)
    assert (
        "8 of 596 runs lost, never counted as flaky: 4 by the environment, 2 by the harness, 2 by hand"
        in line
    )
    assert "most often: port <n> is in use" in line


def test_only_errors_are_no_verdict(report: Report) -> None:
    assert row(report, "only-errors")["verdict"] == "UNKNOWN"
    assert row(report, "only-errors")["p_as_expected"] is None


def test_a_cell_s_owner_is_the_newest_that_a_run_names(facts: Facts, report: Report) -> None:
    assert row(report, "owned")["owner"] == facts.counts[key("owned")].owner == "payments"
    assert row(report, "single")["owner"] is None


def test_lost_runs_cost_their_minutes_by_cause_and_by_owner(facts: Facts, report: Report) -> None:
    lost = [item for item in facts.costs if item.lost]
    assert sum(item.runs for item in facts.costs) == 596
    assert {item.scenario: (item.runs, item.seconds) for item in lost if item.owner} == {
        "owned": (1, MINUTE * 3)
    }
    by_cause = {item.signature: item.runs for item in lost if item.scenario == "broken"}
    assert by_cause == {"port <n> is in use": 3, None: 1}
    tables = {table.name: table for table in report.tables}
    owners = {item["owner"]: item["minutes_lost"] for item in tables["costs_by_owner"].rows}
    assert owners["payments"] == 3


def test_what_nights_found_is_listed_with_its_age_and_no_cause_of_a_lost_run(
    facts: Facts, report: Report
) -> None:
    (known,) = facts.known
    assert (known.code, known.runs, known.text) == ("lost-agree", 2, "lost: the members agree")
    assert known.first_seen is not None
    assert known.last_seen is not None
    assert known.newest_run is not None
    assert known.last_seen - known.first_seen == timedelta(hours=2)
    assert known.newest_run > known.last_seen
    assert "lost-agree: lost: the members agree" in report.texts["known.txt"]
    assert "lost-agree" not in {item.signature for item in facts.costs}


def test_what_is_not_known_of_a_cell_is_the_same_in_old_runs_and_new(facts: Facts, report: Report) -> None:
    unknown = key("migrated", rocketmq="unknown")._replace(cluster="unknown")
    counts = facts.counts[unknown]
    assert (counts.runs, counts.judged, counts.as_expected, counts.environment_errors) == (5, 4, 3, 1)
    assert sum(block.runs for block in facts.blocks[unknown]) == 4
    # No version came after one that nobody knows.
    versions = next(table for table in report.tables if table.name == "versions")
    assert not [row for row in versions.rows if row["scenario"] == "migrated"]


def test_what_is_only_measured_is_not_judged(facts: Facts, report: Report) -> None:
    cell = row(report, "measured")
    assert (cell["verdict"], cell["judged"], cell["p_reproduced"], cell["p_steady"]) == (
        "MEASURED",
        0,
        0.5,
        None,
    )
    assert [block.hits for block in facts.blocks[key("measured")]] == [1, 0, 0, 1]


def test_a_precondition_that_did_not_hold_is_the_product_s_end(facts: Facts, report: Report) -> None:
    counts = facts.counts[key("mixed")]
    assert (counts.reproduced, counts.not_reproduced, counts.inconclusive) == (2, 1, 1)
    assert row(report, "mixed")["verdict"] == "FLAKY"


def test_one_run_is_not_enough(report: Report) -> None:
    assert (row(report, "single")["verdict"], row(report, "single")["more_runs_needed"]) == ("PASS?", 17)
    assert (row(report, "steady")["verdict"], row(report, "steady")["more_runs_needed"]) == ("PASS", 0)


def test_what_began_at_once_is_ordered_by_key(facts: Facts, report: Report) -> None:
    assert [block.hits for block in facts.blocks[key("tied")]] == [1, 0, 1, 0]
    assert (row(report, "tied")["flips"], row(report, "tied")["flip_rate"]) == (3, 1.0)


def test_a_run_whose_clock_jumped_counts_but_has_no_place_in_time(facts: Facts, report: Report) -> None:
    cell = row(report, "jumped")
    assert (cell["judged"], cell["as_expected"], cell["order_uncertain"], cell["flips"]) == (5, 3, 2, 0)
    assert sum(block.runs for block in facts.blocks[key("jumped")]) == 3
    assert any(line.startswith("The order in time of 2 runs is uncertain") for line in report.lines)


def test_many_runs_come_as_200_blocks_of_equal_size(facts: Facts, report: Report) -> None:
    blocks = facts.blocks[key("many")]
    assert len(blocks) == 200
    assert {block.runs for block in blocks} == {2, 3}
    assert sum(block.hits for block in blocks) == 300
    assert sum(block.flips for block in blocks) == 1
    cell = row(report, "many")
    assert (cell["verdict"], cell["now"], cell["change_points"]) == ("FLAKY", "FAIL", 1)


def test_a_change_is_reported_with_its_date_and_its_first_runs(report: Report, store: Rows) -> None:
    changes = next(table for table in report.tables if table.name == "changes")
    (change,) = (item for item in changes.rows if item["scenario"] == "changed")
    first = [run for run in store.runs if run["scenario"] == "changed"][31]
    assert change["since"] == first["started"]
    assert change["first_bad_run_source"] == change["first_run_source"] == first["source"]
    assert (change["runs_before"], change["share_before"], change["exact_to_runs"]) == (31, 1.0, 1)


def test_the_first_bad_run_after_a_change_of_version_is_named(report: Report, store: Rows) -> None:
    versions = next(table for table in report.tables if table.name == "versions")
    changes = {(item["scenario"], item["of"]): item for item in versions.rows}
    assert set(changes) == {("changed", "rocketchaos"), ("upgraded", "RocketMQ"), ("upgraded", "client")}
    harness = changes["changed", "rocketchaos"]
    assert (
        harness["first_bad_source"]
        == [run for run in store.runs if run["scenario"] == "changed"][31]["source"]
    )
    assert (harness["before"], harness["after"], harness["runs_after"]) == ("0.1.0", "0.2.0", 30)
    assert harness["p"] < 0.001
    rocketmq = changes["upgraded", "RocketMQ"]
    assert (rocketmq["change"], rocketmq["share_after"]) == ("RocketMQ 4.9.4 → 5.5.0", 0.2)
    client = changes["upgraded", "client"]
    assert (client["before"], client["after"], client["p"]) == ("4.9.4", "5.5.0", 1.0)


def test_one_cause_is_one_row(facts: Facts, store: Rows) -> None:
    causes = {signature.signature: signature for signature in facts.signatures}
    assert list(causes) == [
        "port <n> is in use",
        "delivered: <n> of <n>",
        "precondition: not reached within <n> s",
        "a slow disk",
    ]
    cause = causes["delivered: <n> of <n>"]
    assert (cause.bad_runs, cause.good_runs, cause.occurrences, cause.cells) == (2, 0, 5, 1)
    newest = [run for run in store.runs if run["scenario"] == "mixed"][2]
    assert (cause.run, cause.source, cause.last_seen) == (newest["run"], newest["source"], newest["started"])
    assert cause.text == f"delivered: <n> of <n> ({newest['run_key']})"
    slow, port = causes["a slow disk"], causes["port <n> is in use"]
    assert (slow.first_in_runs, slow.bad_runs, slow.lost_runs, slow.good_runs) == (0, 2, 0, 2)
    assert (port.first_in_runs, port.bad_runs, port.lost_runs, port.kind) == (3, 3, 3, "trouble")
    assert sum(signature.first_in_runs for signature in facts.signatures) == 5


def test_a_cell_s_first_cause_is_what_its_bad_runs_have_and_the_good_don_t(facts: Facts, store: Rows) -> None:
    first, second, third = facts.causes[key("mixed")]
    newest = [run for run in store.runs if run["scenario"] == "mixed"][2]
    assert (first.text, first.source) == (f"{first.signature} ({newest['run_key']})", newest["source"])
    assert (first.signature, first.first_in_runs, first.missed_runs) == ("delivered: <n> of <n>", 1, 2)
    assert (second.signature, second.first_in_runs) == ("precondition: not reached within <n> s", 1)
    assert (third.signature, third.first_in_runs, third.good_runs) == ("a slow disk", 0, 2)


def test_conditions_are_binned_within_cells_that_end_both_ways(facts: Facts) -> None:
    assert set(facts.bins) == {key("mixed")}
    bins = facts.bins[key("mixed")]
    assert [(item.runs, item.hits) for item in bins if item.name == "load_start"] == [
        (1, 1),
        (1, 1),
        (1, 0),
        (1, 0),
    ]
    assert [(item.bin, item.runs, item.hits) for item in bins if item.name == "beside"] == [(10, 4, 2)]
    assert {item.name for item in bins} == {"load_start", "beside"}


def test_what_became_worse_for_good_comes_first(report: Report) -> None:
    assert report.headline.startswith("1 FAIL, ")
    assert "worst: many java 5.5.0 embedded 300 of 450 as expected" in report.headline
    assert "FAIL now" in report.headline
    assert "change point from 1.00 to 0.00, p<0.001" in report.headline
    assert len(report.lines) <= 12


def test_all_that_a_report_shows_is_there(report: Report) -> None:
    assert [figure.name for figure in report.figures] == [
        "map",
        "intervals",
        "time",
        "strips",
        "causes",
        "conditions",
    ]
    for table in report.tables:
        assert all(set(item) == set(table.schema.fieldNames()) for item in table.rows), table.name


@pytest.fixture(scope="module")
def theirs(spark: SparkSession, views: None) -> Iterator[duckdb.DuckDBPyConnection]:
    with duck(spark) as connection:
        yield connection


@pytest.mark.parametrize("name", QUERIES)
def test_another_engine_gets_the_same_from_the_same_text(
    spark: SparkSession, theirs: duckdb.DuckDBPyConnection, name: str
) -> None:
    assert compare(spark, theirs, f"flakiness_{name}")


@pytest.mark.nightly
def test_each_part_shows_the_queries_that_it_is_made_of(
    spark: SparkSession, views: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Which cells are the worst ones is no part of what is shown of each.
    for name in ("MOST_TRENDS", "MOST_STRIPS", "MOST_INTERVALS"):
        monkeypatch.setattr(figures, name, 1_000)
    made, shown = queries_of(spark, flakiness)
    # What is new has tests of its own, `test_diff.py`: here all runs came at once.
    parts = [part for part in shown if not part[1].startswith("new_")]
    assert {part: made[part] for part in parts} == {part: shown[part] for part in parts}


def test_an_empty_store_says_so(spark: SparkSession) -> None:
    tables.register(spark)
    empty = flakiness(Answers(spark), NOTHING)
    assert empty.headline.startswith("The store has no runs")
    assert not empty.lines
    assert not empty.figures
    assert all(not table.rows for table in empty.tables)


def test_the_rows_say_what_they_mean() -> None:
    assert [item["run_key"] for item in run_rows("++", first=3)] == [3, 4]
    assert run_row(1)["started"] == BEGIN + timedelta(hours=1)
