"""What flakiness costs: runs that ended not as expected, or in an error, and the minutes that they took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.sql.types import DataType, DoubleType, LongType, StringType, TimestampType

from rocketchaos.harness.core.text import counted
from rocketchaos.spark_reports.flakiness.cells import is_drawn
from rocketchaos.spark_reports.queries import queries
from rocketchaos.spark_reports.report import Table
from rocketchaos.spark_reports.spark_schema import schema

_TEXT, _LONG, _DOUBLE, _TIME = StringType(), LongType(), DoubleType(), TimestampType()
_LOST: Mapping[str, DataType] = {"runs_lost": _LONG, "minutes_lost": _DOUBLE}
_OF: Mapping[str, DataType] = {"runs": _LONG, "minutes": _DOUBLE, "share_of_minutes": _DOUBLE}
MOST_ROWS = 200
DRAWN = "drawn by nightly"
"""Stands for all scenarios that nights drew: each is run once."""
NOBODY = "nobody named"
_SEEN: Mapping[str, DataType] = {"first_lost": _TIME, "last_lost": _TIME, "source": _TEXT}


@dataclass(frozen=True, slots=True)
class Cost:
    """A row of `flakiness_costs`."""

    scenario: str
    client: str
    rocketmq: str
    host: str
    owner: str | None
    lost: bool
    signature: str | None
    side: str | None
    text: str | None
    runs: int
    seconds: float
    first_seen: datetime | None
    last_seen: datetime | None
    source: str | None


def costs_line(costs: Sequence[Cost]) -> str:
    """What all of it costs; empty where nothing is lost."""
    lost = [cost for cost in costs if cost.lost]
    if not lost:
        return ""
    minutes, of = (sum(cost.seconds for cost in some) / 60 for some in (lost, costs))
    runs = counted(sum(cost.runs for cost in lost), "run")
    return f"{runs} ended not as expected, or in an error: {minutes:,.0f} of {of:,.0f} minutes of all runs."


SAYS = (
    "A run is lost that ended not as expected, or in an error; all the minutes that it took are lost. This counts "
    "cells that always fail, too. Where a run was repeated, the repeat is a run of its own, and is lost only if "
    "it failed too. Runs that only measure are lost by an error alone. `runs` and `minutes` are of all runs."
)
"""What the tables count."""


def costs_tables(costs: Sequence[Cost]) -> list[Table]:
    """By cause, by scenario, by host, by owner."""
    return [
        _table(
            "costs_by_cause", "By cause", "The cause is the finding that says most of a run.",
            {"side": _TEXT, "signature": _TEXT, "text": _TEXT, "scenarios": _LONG, **_LOST, **_SEEN},
            _grouped((cost for cost in costs if cost.lost), lambda cost: cost.signature, _cause),
            "cost-of-cause", ("signature",),
        ),
        _table(
            "costs_by_scenario", "By scenario", "With one client and version of RocketMQ.",
            {**dict.fromkeys(("scenario", "client", "rocketmq"), _TEXT), **_LOST, **_OF, **_SEEN},
            _grouped(
                costs, lambda cost: (_scenario(cost), cost.client, cost.rocketmq),
                lambda own: {
                    "scenario": _scenario(own[0]), "client": own[0].client, "rocketmq": own[0].rocketmq,
                },
            ),
            "cost-of-cell", ("scenario", "client", "rocketmq"),
        ),
        _table(
            "costs_by_host", "By host", "The machine that ran them.",
            {"host": _TEXT, **_LOST, **_OF, **_SEEN},
            _grouped(costs, lambda cost: cost.host, lambda own: {"host": own[0].host}),
            "cost-of-host", ("host",),
        ),
        _table(
            "costs_by_owner", "By owner", "Who looked after the scenario when it ran.",
            {"owner": _TEXT, **_LOST, **_OF, **_SEEN},
            _grouped(costs, _owner, lambda own: {"owner": _owner(own[0])}),
            "cost-of-owner", ("owner",),
        ),
    ]  # fmt: skip


def _scenario(cost: Cost) -> str:
    return DRAWN if is_drawn(cost.scenario) else cost.scenario


def _owner(cost: Cost) -> str:
    return cost.owner or NOBODY


def _cause(own: Sequence[Cost]) -> Mapping[str, Any]:
    newest = max(own, key=_newest)
    return {
        "side": newest.side,
        "signature": newest.signature,
        "text": newest.text,
        "scenarios": len({cost.scenario for cost in own}),
    }


def _table(
    name: str, title: str, says: str, columns: Mapping[str, DataType], rows: Sequence[Mapping[str, Any]],
    rows_are: str, key: Sequence[str],
) -> Table:  # fmt: skip
    return Table(
        name,
        title,
        f"{says} What costs most comes first, at most {MOST_ROWS} rows; what costs nothing is left out.",
        schema(**columns),
        [{column: row[column] for column in columns} for row in rows[:MOST_ROWS]],
        queries("flakiness_costs"),
        rows_are,
        key,
    )


def _grouped(
    costs: Iterable[Cost],
    key: Callable[[Cost], Hashable],
    about: Callable[[Sequence[Cost]], Mapping[str, Any]],
) -> list[Mapping[str, Any]]:
    groups: dict[Hashable, list[Cost]] = defaultdict(list)
    for cost in costs:
        groups[key(cost)].append(cost)
    rows: list[Mapping[str, Any]] = [
        {**about(own), **_sums(own)} for own in groups.values() if any(cost.lost for cost in own)
    ]
    return sorted(rows, key=lambda row: (-row["minutes_lost"], -row["runs_lost"], str(row.get("source"))))


def _sums(own: Sequence[Cost]) -> Mapping[str, Any]:
    lost = [cost for cost in own if cost.lost]
    minutes_lost, minutes = (sum(cost.seconds for cost in some) / 60 for some in (lost, own))
    return {
        "runs_lost": sum(cost.runs for cost in lost),
        "minutes_lost": minutes_lost,
        "runs": sum(cost.runs for cost in own),
        "minutes": minutes,
        "share_of_minutes": minutes_lost / minutes if minutes else None,
        "first_lost": min((cost.first_seen for cost in lost if cost.first_seen), default=None),
        "last_lost": max((cost.last_seen for cost in lost if cost.last_seen), default=None),
        "source": max(lost, key=_newest).source,
    }


def _newest(cost: Cost) -> tuple[bool, float, str]:
    return (
        cost.last_seen is not None,
        cost.last_seen.timestamp() if cost.last_seen else 0.0,
        cost.source or "",
    )
