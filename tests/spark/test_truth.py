"""Reports on a store whose truth is known: what was planted is found; where nothing was, next to nothing is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.queries import queries_of
from rocketchaos.spark_reports.report import Report
from rocketchaos.spark_reports.report_kinds import REPORTS
from rocketchaos.spark_reports.store import Store
from tests.benchmarks.spark.facts import write_store
from tests.benchmarks.spark.fit import fit
from tests.benchmarks.spark.runs import Size
from tests.benchmarks.spark.world import Planted, World, null_world, planted_world

pytestmark = [pytest.mark.spark, pytest.mark.nightly]

SCENARIOS = 6
"""One for each planted thing, and one more."""
SIZE = Size(messages=36_000, per_run=20)
"""60 runs of each cell."""
STEADY = 0.98

Reports = Mapping[str, Report]


def made(spark: SparkSession, folder: Path, world: World) -> Reports:
    write_store(spark, str(folder), world, SIZE)
    store = Store.open(spark, str(folder))
    store.register()
    summary, answers = store.summary(), Answers(spark)
    with answers.asked_ahead(queries_of(REPORTS)):
        return {name: build(answers, summary) for name, build in REPORTS.items()}


@pytest.fixture(scope="module")
def world() -> World:
    return planted_world(fit(), SCENARIOS, STEADY)


@pytest.fixture(scope="module")
def reports(spark: SparkSession, world: World, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    return made(spark, tmp_path_factory.mktemp("planted") / "store", world)


@pytest.fixture(scope="module")
def quiet(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    return made(spark, tmp_path_factory.mktemp("null") / "store", null_world(fit(), SCENARIOS, STEADY))


def planted(world: World, kind: str) -> Planted:
    return next(item for item in world.planted if item.kind == kind)


def diverging(report: Report) -> set[str]:
    """The scenarios that diverge, by more than chance alone brings once in 100 stores.

    A report takes 1 in 20. One more golden run draws all of these runs again, and may bring an alarm by chance.
    """
    return {
        row["scenario"]
        for row in rows(report, "differences")
        if row["verdict"] == "diverges" and row["p_corrected"] < 0.01
    }


def rows(report: Report, table: str) -> Iterator[Mapping[str, Any]]:
    yield from next(item for item in report.tables if item.name == table).rows


def of(item: Planted, row: Mapping[str, Any]) -> bool:
    return (row["scenario"], row["client"], row["rocketmq"]) == (item.scenario, item.client, item.rocketmq)


def test_the_flaky_cell_is_flaky_at_its_rate(reports: Reports, world: World) -> None:
    flaky = planted(world, "flaky")
    (row,) = (row for row in rows(reports["flakiness"], "cells") if of(flaky, row))
    assert row["verdict"] == "FLAKY"
    assert row["as_expected_low"] <= flaky.size["as_expected"] <= row["as_expected_high"]
    assert row["as_expected_high"] < STEADY


def test_the_change_is_found_where_it_was_planted(reports: Reports, world: World) -> None:
    change = planted(world, "change-point")
    found = list(rows(reports["flakiness"], "changes"))
    assert [row["scenario"] for row in found if of(change, row)], f"found: {found}"
    (row,) = (row for row in found if of(change, row))
    cut = row["runs_before"] / (row["runs_before"] + row["runs_after"])
    assert cut == pytest.approx(change.size["change_at"], abs=0.1)
    assert row["share_before"] > 0.9
    assert row["share_after"] < 0.75


def test_the_busy_machine_is_what_goes_with_the_outcome(reports: Reports, world: World) -> None:
    busy = planted(world, "busy-machine")
    found = [row for row in rows(reports["flakiness"], "conditions") if row["p_adjusted"] < 0.05]
    assert [(row["scenario"], row["condition"]) for row in found] == [(busy.scenario, "busy_share")]
    assert found[0]["auc_low"] > 0.5


def test_the_loss_is_found_with_its_size(reports: Reports, world: World) -> None:
    loss = planted(world, "divergence")
    found = [
        row
        for row in rows(reports["divergence"], "differences")
        if row["scenario"] == loss.scenario
        and row["message_class"] == "lost"
        and row["verdict"] == "diverges"
    ]
    assert {loss.client, loss.rocketmq} & {side for row in found for side in (row["first"], row["second"])}
    for row in found:
        messages = 1 if row["unit"].startswith("share") else SIZE.per_run
        assert abs(row["difference"]) / messages == pytest.approx(loss.size["lost"], abs=0.02)


def test_only_the_planted_loss_diverges(reports: Reports, world: World) -> None:
    assert diverging(reports["divergence"]) == {planted(world, "divergence").scenario}


def test_late_deliveries_are_beyond_the_timers(reports: Reports, world: World) -> None:
    slow = planted(world, "slow-delivery")
    by_client = {
        (row["client"], row["rocketmq"]): row
        for row in rows(reports["timing"], "delivery")
        if row["verdict"] != "faults decide"
    }
    assert by_client[slow.client, slow.rocketmq]["verdict"] == "beyond"
    assert by_client[slow.client, slow.rocketmq]["longest_in"] == slow.scenario
    worst = max(
        (row for row in rows(reports["timing"], "scenarios") if row["what"] == "delivery"),
        key=lambda row: row["highest_ms"],
    )
    assert of(slow, worst)
    assert slow.size["from_ms"] < worst["highest_ms"] <= 2 * slow.size["from_ms"]


@pytest.mark.nightly
def test_where_nothing_was_planted_nothing_is_reported(quiet: Reports) -> None:
    assert not list(rows(quiet["flakiness"], "changes"))
    assert not [row for row in rows(quiet["flakiness"], "conditions") if row["p_adjusted"] < 0.01]
    assert diverging(quiet["divergence"]) == set()


@pytest.mark.nightly
def test_every_cell_holds_its_true_rate_or_nearly_every(quiet: Reports) -> None:
    cells = list(rows(quiet["flakiness"], "cells"))
    missed = [row for row in cells if not row["as_expected_low"] <= STEADY <= row["as_expected_high"]]
    # 30 intervals of 95 %: more than 5 misses come in less than 1 of 100 stores
    assert len(missed) <= 5
