"""The rows of the queries, as values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from spark_reports.queries import query
from spark_reports.statistics.percentiles import Histogram
from spark_reports.timing.deciders import Decider, Timers, deciders


class Side(NamedTuple):
    """Who took so long."""

    client: str
    rocketmq: str
    timing: str


@dataclass(frozen=True, slots=True)
class InScenario:
    """Intervals of one cell: a row of `timing_scenarios`."""

    what: str
    unnoticed: bool
    scenario: str
    client: str
    rocketmq: str
    cluster: str
    timing: str
    intervals: int
    runs: int
    p50_ms: float
    p90_ms: float
    p99_ms: float
    highest_ms: float
    at_least_ms: float
    source: str | None
    certain_source: str | None


@dataclass(frozen=True, slots=True)
class Measured:
    """Intervals of one kind and side over all scenarios."""

    what: str
    side: Side
    unnoticed: bool
    """What began it, brokers had to notice by themselves."""
    most: Histogram
    """How long they took at most; of deliveries, how long they took."""
    least: Histogram
    """How long they took at least."""
    limits: Mapping[int | None, tuple[int, int, int]]
    """What the timers allow at the latest; how many intervals that holds for, how many of them are known to have
    taken longer, and how many may have. None: the folders of their runs don't tell."""
    deciders: Sequence[Decider]
    scenarios: Sequence[InScenario]

    @property
    def intervals(self) -> int:
        """So many."""
        return self.most.total

    @property
    def runs(self) -> int:
        """Of so many runs."""
        return sum(one.runs for one in self.scenarios)

    @property
    def limit_ms(self) -> int | None:
        """The greatest limit."""
        return max((limit for limit in self.limits if limit is not None), default=None)

    @property
    def untold(self) -> int:
        """Intervals that can't be held against timers."""
        return self.limits[None][0] if None in self.limits else 0

    @property
    def beyond(self) -> int:
        """Intervals that are known to have taken longer than their timers allow."""
        return sum(one[1] for one in self.limits.values())

    @property
    def perhaps_beyond(self) -> int:
        """Those, and the ones of which the looks were too far apart to tell."""
        return sum(one[2] for one in self.limits.values())

    @property
    def worst(self) -> InScenario:
        """Where the longest was seen."""
        return max(self.scenarios, key=lambda one: one.highest_ms)

    @property
    def worst_for_certain(self) -> InScenario:
        """Where the longest is known to have been."""
        return max(self.scenarios, key=lambda one: one.at_least_ms)


@dataclass(frozen=True, slots=True)
class Facts:
    """All that the report is made of."""

    measured: Sequence[Measured]
    scenarios: Sequence[InScenario]
    timers: Mapping[Side, Timers]
    untold_runs: int
    """Runs whose folders don't tell their timers."""


def read(spark: SparkSession) -> Facts:
    """Ask the store."""
    timers, untold = _timers(spark)
    rows = spark.sql(query("timing_scenarios")).collect()
    scenarios = [InScenario(**{one.name: row[one.name] for one in fields(InScenario)}) for row in rows]
    return Facts(_measured(spark, scenarios, timers), scenarios, timers, untold)


def _timers(spark: SparkSession) -> tuple[dict[Side, Timers], int]:
    told: dict[Side, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    untold = 0
    for row in spark.sql(query("timing_timers")).collect():
        if row["timer"] is None:
            untold += row["runs"]
        else:
            told[Side(row["client"], row["rocketmq"], row["timing"])][row["timer"]].append(row["ms"])
    return {side: dict(own) for side, own in told.items()}, untold


def _measured(
    spark: SparkSession, scenarios: Sequence[InScenario], timers: Mapping[Side, Timers]
) -> list[Measured]:
    places: dict[Any, list[InScenario]] = defaultdict(list)
    for one in scenarios:
        places[one.what, Side(one.client, one.rocketmq, one.timing), one.unnoticed].append(one)
    rows: dict[Any, list[Any]] = defaultdict(list)
    for row in spark.sql(query("timing_histograms")).collect():
        side = Side(row["client"], row["rocketmq"], row["timing"])
        rows[row["what"], side, row["unnoticed"]].append(row)
    return [
        Measured(
            what,
            side,
            unnoticed,
            most=Histogram.of((row["block"], row["ms"], row["most"]) for row in own if row["most"]),
            least=Histogram.of((row["block"], row["ms"], row["least"]) for row in own if row["least"]),
            limits=_limits(own),
            deciders=deciders(what, side.client, unnoticed, timers.get(side, {})),
            scenarios=places[what, side, unnoticed],
        )
        for (what, side, unnoticed), own in sorted(rows.items())
    ]


def _limits(rows: Sequence[Mapping[str, Any]]) -> dict[int | None, tuple[int, int, int]]:
    found: dict[int | None, tuple[int, int, int]] = {}
    for row in rows:
        limit = row["limit_ms"]
        intervals, beyond, perhaps = found.get(limit, (0, 0, 0))
        found[limit] = (
            intervals + row["most"],
            beyond + (row["least"] if row["beyond"] else 0),
            perhaps + (row["most"] if row["beyond"] else 0),
        )
    return found
