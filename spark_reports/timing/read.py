"""The rows of the queries, as values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.statistics.percentiles import Histogram
from rocketchaos.spark_reports.timing.deciders import Decider, Timers, deciders

BLOCKS = 20
"""Into which `timing_histograms` deals runs."""


class Side(NamedTuple):
    """The client, version and timing of an interval."""

    client: str
    rocketmq: str
    timing: str

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Side:
        """The side of a row; a value that its run folders don't have is `unknown` in the views of the store."""
        return cls(*(row[column] for column in cls._fields))


@dataclass(frozen=True, slots=True)
class InScenario:
    """Intervals of one cell that have the same limit: a row of `timing_scenarios`."""

    what: str
    unnoticed: bool | None
    scenario: str
    client: str
    rocketmq: str
    cluster: str
    timing: str
    timers: str | None
    limit_ms: int | None
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
    """Intervals of one kind, side and limit over all scenarios."""

    what: str
    side: Side
    unnoticed: bool | None
    """Whether brokers had to notice what began it by themselves; None: unknown, or deliveries with faults."""
    limit_ms: int | None
    """The longest that the timers allow; None: unknown (missing in the run folders, or faults)."""
    deciders: Sequence[Decider]
    """These timers."""
    took: Histogram
    """How long they took, at most; deliveries exactly."""
    beyond: int
    """Intervals that are known to have taken longer than their timers allow."""
    perhaps_beyond: int
    """Those, and intervals whose looks were too far apart to be sure."""
    scenarios: Sequence[InScenario]

    @property
    def with_faults(self) -> bool:
        """Deliveries in runs with faults: how long these last decides, and not RocketMQ's timers."""
        return self.what == "delivery" and self.unnoticed is None

    @property
    def intervals(self) -> int:
        """How many there are."""
        return self.took.total

    @property
    def runs(self) -> int:
        """The number of runs."""
        return sum(scenario.runs for scenario in self.scenarios)

    @property
    def worst(self) -> InScenario:
        """Where the longest was seen."""
        return max(self.scenarios, key=lambda scenario: scenario.highest_ms)

    @property
    def worst_for_certain(self) -> InScenario:
        """Where the longest is known to have been."""
        return max(self.scenarios, key=lambda scenario: scenario.at_least_ms)


@dataclass(frozen=True, slots=True)
class Facts:
    """All that the report is made of."""

    measured: Sequence[Measured]
    scenarios: Sequence[InScenario]
    timers: Mapping[Side, Timers]
    untold_runs: int
    """Runs whose folders don't tell their timers."""


def read(answers: Answers) -> Facts:
    """Ask the store."""
    timers, untold = _timers(answers)
    scenarios = [_in_scenario(row) for row in _ask(answers, "timing_scenarios")]
    return Facts(_measured(answers, scenarios), scenarios, timers, untold)


def _ask(answers: Answers, name: str) -> list[dict[str, Any]]:
    return [row.asDict() for row in answers.rows(name)]


def _in_scenario(row: Mapping[str, Any]) -> InScenario:
    return InScenario(**{field.name: row[field.name] for field in fields(InScenario)})


def _timers(answers: Answers) -> tuple[dict[Side, Timers], int]:
    durations: dict[Side, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    untold = 0
    for row in _ask(answers, "timing_timers"):
        if row["timers_ms"] is None:
            untold += row["runs"]
        for name, ms in (row["timers_ms"] or {}).items():
            durations[Side.of(row)][name].append(ms)
    return {side: dict(own) for side, own in durations.items()}, untold


def _measured(answers: Answers, scenarios: Sequence[InScenario]) -> list[Measured]:
    places: dict[Any, list[InScenario]] = defaultdict(list)
    for scenario in scenarios:
        places[
            scenario.what,
            Side(scenario.client, scenario.rocketmq, scenario.timing),
            scenario.unnoticed,
            scenario.timers,
        ].append(scenario)
    rows: dict[Any, list[Any]] = defaultdict(list)
    for row in _ask(answers, "timing_histograms"):
        rows[row["what"], Side.of(row), row["unnoticed"], row["timers"]].append(row)
    return [
        Measured(
            what,
            side,
            unnoticed,
            limit_ms=own[0]["limit_ms"],
            deciders=deciders(timers),
            took=Histogram.of(_by_block(own)),
            beyond=sum(row["beyond"] for row in own),
            perhaps_beyond=sum(row["perhaps_beyond"] for row in own),
            scenarios=places[what, side, unnoticed, timers],
        )
        for (what, side, unnoticed, timers), own in sorted(rows.items(), key=_in_order)
    ]


def _by_block(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, float, int]]:
    """Block, value, and how often it was."""
    for row in rows:
        for block in range(BLOCKS):
            if count := row[f"block_{block}"]:
                yield block, row["ms"], count


def _in_order(item: tuple[tuple[str, Side, bool | None, str | None], Any]) -> tuple[object, ...]:
    what, side, unnoticed, timers = item[0]
    return what, side, unnoticed is None, bool(unnoticed), timers is None, timers or ""
