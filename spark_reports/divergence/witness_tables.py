"""The tables of the witnesses."""

from collections.abc import Sequence
from typing import Any

from pyspark.sql.types import DoubleType, LongType, StringType

from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.divergence.read import Facts
from rocketchaos.spark_reports.divergence.tables import CELL_COLUMNS, interval_columns
from rocketchaos.spark_reports.divergence.witnesses import Contradiction, Statement
from rocketchaos.spark_reports.queries import queries
from rocketchaos.spark_reports.report import Table
from rocketchaos.spark_reports.spark_schema import schema

_TEXT, _LONG, _DOUBLE = StringType(), LongType(), DoubleType()


def contradictions_table(found: Sequence[Contradiction]) -> Table:
    """Messages about which two witnesses contradict each other."""
    return Table(
        "contradictions",
        "Where the witnesses contradict each other",
        "Messages for which the broker's own tools, or the dashboard, contradict the workers. Only messages that "
        "the last look asked about count. The 95 % interval of the share counts runs, because the messages of a "
        "run depend on each other.",
        schema(
            **CELL_COLUMNS, says=_TEXT, messages=_LONG, asked=_LONG,
            share=_DOUBLE, share_low=_DOUBLE, share_high=_DOUBLE, runs=_LONG, asked_runs=_LONG,
        ),
        [
            {
                **contradiction.cell._asdict(),
                "says": contradiction.says,
                "messages": contradiction.messages,
                "asked": contradiction.asked,
                **interval_columns("share", contradiction.share),
                "runs": contradiction.runs,
                "asked_runs": contradiction.asked_runs,
            }
            for contradiction in found
        ],
        queries("divergence_classes"),
        methods=("bounded-mean",),
    )  # fmt: skip


def statements_table(found: Sequence[Statement]) -> Table:
    """The matrix, in full."""
    return Table(
        "witnesses",
        "What each witness reports",
        "Messages by their class (from the oracle, by the workers' deliveries), by the TrackType in the broker's "
        "own tools, and by the TrackType on the dashboard. A dash means that this witness was not asked about "
        "them. `a_run` is the number of messages in a run, with a 95 % interval over runs.",
        schema(
            **CELL_COLUMNS, message_class=_TEXT, broker_track=_TEXT, dashboard_track=_TEXT, messages=_LONG,
            a_run=_DOUBLE, a_run_low=_DOUBLE, a_run_high=_DOUBLE, runs=_LONG, of_runs=_LONG,
        ),
        [
            {
                **statement.cell._asdict(),
                "message_class": statement.message_class,
                "broker_track": statement.broker_track,
                "dashboard_track": statement.dashboard_track,
                "messages": statement.messages,
                **interval_columns("a_run", statement.a_run),
                "runs": statement.runs,
                "of_runs": statement.of_runs,
            }
            for statement in found
        ],
        queries("divergence_witnesses", "divergence_classes"),
        methods=("bounded-mean",),
    )  # fmt: skip


def subscriptions_table(facts: Facts) -> Table:
    """The subscriptions that brokers held at the end."""
    return Table(
        "subscriptions",
        "Subscriptions that brokers held at the end",
        "One row for each expression that brokers held for a group and topic at the last look. `flips_a_run` is "
        "how often another expression replaced it in a run (the mean). The store doesn't name the members that "
        "had another expression of their own; their messages have the class filtered-by-client.",
        schema(
            **CELL_COLUMNS, consumer_group=_TEXT, topic=_TEXT, held=_TEXT, runs=_LONG,
            runs_with_differing_brokers=_LONG, flips_a_run=_DOUBLE,
        ),
        facts.subscriptions,
        queries("divergence_subscriptions"),
    )  # fmt: skip


def owners_table(facts: Facts) -> Table:
    """Deliveries from queues that no member owned."""
    rows: dict[Cell, dict[str, Any]] = {}
    for row in facts.owners:
        cell = Cell.of(row)
        own = rows.setdefault(cell, {**cell._asdict(), "unowned": 0, "runs": 0})
        own["unowned"] += row["number"] * row["runs"]
        own["runs"] += row["runs"]
        own["of_runs"], own["example"] = facts.complete(cell), row["example"]
    return Table(
        "owners",
        "Deliveries from queues without an owner",
        "Messages that a listener got from a queue without an owner among the members. With POP this is normal: "
        "brokers hand the messages out themselves.",
        schema(**CELL_COLUMNS, unowned=_LONG, runs=_LONG, of_runs=_LONG, example=_TEXT),
        list(rows.values()),
        queries("divergence_owners", "divergence_outcomes"),
    )
