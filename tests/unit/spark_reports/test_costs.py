"""What flakiness costs: runs and minutes by cause, scenario and host."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from rocketchaos.spark_reports.flakiness.costs import DRAWN, MOST_ROWS, NOBODY, Cost, costs_line, costs_tables

FIRST, LAST = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 8, tzinfo=UTC)


def cost(lost: bool = True, runs: int = 2, minutes: float = 3.0, **more: Any) -> Cost:
    known: dict[str, Any] = {
        "scenario": "tags", "client": "java", "rocketmq": "5.5.0", "host": "ci-1", "lost": lost,
        "owner": "payments",
        "signature": "port <n>" if lost else None, "side": "environment" if lost else None,
        "text": "port 1 is in use" if lost else None, "runs": runs, "seconds": minutes * 60,
        "first_seen": FIRST, "last_seen": FIRST, "source": "runs/1",
    }  # fmt: skip
    return Cost(**{**known, **more})


COSTS = [
    cost(),
    cost(host="ci-2", runs=1, minutes=9, last_seen=LAST, source="runs/2", text="port 2 is in use"),
    cost(scenario="kills", signature=None, side=None, text=None, runs=1, minutes=1, last_seen=None),
    cost(lost=False, runs=20, minutes=20),
    cost(lost=False, scenario="sound", host="ci-3", runs=5, minutes=5),
    cost(scenario="nightly-7-1", host="ci-4", owner=None, runs=1, minutes=2, signature="disk full"),
    cost(scenario="nightly-7-2", host="ci-4", owner=None, runs=1, minutes=2, signature="disk full"),
]


def rows(name: str) -> list[dict[str, Any]]:
    (table,) = (table for table in costs_tables(COSTS) if table.name == name)
    assert all(set(row) == set(table.schema.names) for row in table.rows)
    return [dict(row) for row in table.rows]


def test_by_cause_the_newest_run_speaks() -> None:
    first, drawn, second = rows("costs_by_cause")
    assert first == {
        "side": "environment", "signature": "port <n>", "text": "port 2 is in use", "scenarios": 1,
        "runs_lost": 3, "minutes_lost": 12, "first_lost": FIRST, "last_lost": LAST, "source": "runs/2",
    }  # fmt: skip
    assert (drawn["signature"], drawn["scenarios"], drawn["runs_lost"]) == ("disk full", 2, 2)
    assert (second["signature"], second["runs_lost"], second["minutes_lost"]) == (None, 1, 1)


def test_by_scenario_host_and_owner_all_runs_are_reported_and_what_costs_nothing_is_left_out() -> None:
    columns = ("scenario", "runs_lost", "runs", "minutes")
    scenarios = [tuple(row[name] for name in columns) for row in rows("costs_by_scenario")]
    assert scenarios == [("tags", 3, 23, 32), (DRAWN, 2, 2, 4), ("kills", 1, 1, 1)]
    columns = ("host", "minutes_lost", "minutes", "share_of_minutes")
    hosts = {tuple(row[name] for name in columns) for row in rows("costs_by_host")}
    assert hosts == {("ci-1", 4, 24, 4 / 24), ("ci-2", 9, 9, 1), ("ci-4", 4, 4, 1)}
    owners = {tuple(row[name] for name in ("owner", *columns[1:])) for row in rows("costs_by_owner")}
    assert owners == {("payments", 13, 38, 13 / 38), (NOBODY, 4, 4, 1)}


def test_the_line_has_all_of_it_or_nothing() -> None:
    assert costs_line(COSTS) == (
        "6 runs did not end as expected, or ended in an error: 17 of 42 minutes of all runs."
    )
    assert costs_line([cost(lost=False)]) == ""


def test_a_few_minutes_have_a_digit_more_so_that_half_a_minute_of_six_is_no_sixth() -> None:
    assert "0.6 of 6.1 minutes" in costs_line([cost(minutes=0.55), cost(lost=False, minutes=5.54)])


def test_a_table_has_its_costliest_rows_alone() -> None:
    many = [cost(signature=f"cause-{n}", minutes=n) for n in range(1, MOST_ROWS + 51)]
    by_cause = next(table for table in costs_tables(many) if table.name == "costs_by_cause")
    assert len(by_cause.rows) == MOST_ROWS
    assert [row["minutes_lost"] for row in by_cause.rows[:2]] == [MOST_ROWS + 50, MOST_ROWS + 49]
