"""The costs of flakiness: runs that did not end as expected, or ended in an error, and their minutes."""

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
NOBODY = "no owner"
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
    """The total costs; empty if no run is lost."""
    lost = [cost for cost in costs if cost.lost]
    if not lost:
        return ""
    minutes, of = (sum(cost.seconds for cost in some) / 60 for some in (lost, costs))
    runs = counted(sum(cost.runs for cost in lost), "run")
    # Rounded to whole minutes, half a minute of six would look like a sixth.
    digits = 1 if minutes < 10 else 0
    spent = f"{minutes:,.{digits}f} of {of:,.{digits}f} minutes of all runs"
    return f"{runs} did not end as expected, or ended in an error: {spent}."


SAYS = (
    "A run is lost if it did not end as expected, or ended in an error; then all its minutes are lost. So cells "
    "that always fail count too. A repeat is a run of its own, and is lost only if it fails too. A run that only "
    "measures is lost only if it ends in an error. `runs` and `minutes` are of all runs."
)
"""Which runs the tables count as lost."""


def costs_tables(costs: Sequence[Cost]) -> list[Table]:
    """The costs by cause, by scenario, by host and by owner."""
    return [
        _table(
            "costs_by_cause", "By cause", "The cause is the finding that says most about a run.",
            {"side": _TEXT, "signature": _TEXT, "text": _TEXT, "scenarios": _LONG, **_LOST, **_SEEN},
            _grouped((cost for cost in costs if cost.lost), lambda cost: cost.signature, _cause),
            "cost-of-cause", ("signature",),
        ),
        _table(
            "costs_by_scenario", "By scenario", "One row for each scenario, client and version of RocketMQ.",
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
            "costs_by_host", "By host", "The machine that ran the scenarios.",
            {"host": _TEXT, **_LOST, **_OF, **_SEEN},
            _grouped(costs, lambda cost: cost.host, lambda own: {"host": own[0].host}),
            "cost-of-host", ("host",),
        ),
        _table(
            "costs_by_owner", "By owner", "The owner of the scenario when it ran.",
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
        f"{says} The highest costs come first, at most {MOST_ROWS} rows. Rows without costs are left out.",
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
