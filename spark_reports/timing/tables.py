"""The tables of the report."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pyspark.sql.types import DataType, DoubleType, LongType, StringType

from rocketchaos.spark_reports.queries import queries
from rocketchaos.spark_reports.report import Table
from rocketchaos.spark_reports.spark_schema import schema
from rocketchaos.spark_reports.timing.deciders import WHATS, Timers
from rocketchaos.spark_reports.timing.read import InScenario, Measured, Side

_TEXT, _LONG, _DOUBLE = StringType(), LongType(), DoubleType()
PERCENTILES = (50, 90, 99)
ENOUGH = 100
"""With fewer values the 99th percentile is the greatest of them."""


def against_table(measured: Sequence[Measured], what: str) -> Table:
    """One kind of interval, per client, version and timing, against the timers."""
    percentiles = {
        f"p{percent}{part}_ms": _DOUBLE for percent in PERCENTILES for part in ("", "_low", "_high")
    }
    return Table(
        what.replace("-", "_"),
        f"{WHATS[what].title} against RocketMQ's timers",
        "In milliseconds. A look sees the end of an interval only afterwards, so a value is the longest that it "
        "can have been; `longest_at_least_ms` is the certain length of the longest one (deliveries are exact). "
        "At worst, all `timers` run out one after the other: `limit_ms` is their sum. Runs with other timers "
        "have their own row. `beyond` counts intervals that certainly took longer, `perhaps_beyond` those that "
        f"may have. Percentiles have three digits; with fewer than {ENOUGH} values p99 is the longest. Low and "
        "high are a 95 % interval of order statistics that allows for values of one run being alike. If one is "
        "missing, there are too few values or runs.",
        schema(
            client=_TEXT, rocketmq=_TEXT, timing=_TEXT, began_with=_TEXT, verdict=_TEXT,
            intervals=_LONG, runs=_LONG,
            **percentiles, longest_ms=_DOUBLE, longest_at_least_ms=_DOUBLE,
            timers=_TEXT, limit_ms=_LONG, beyond=_LONG, perhaps_beyond=_LONG,
            longest_in=_TEXT, source=_TEXT, certain_source=_TEXT,
        ),
        [_against(item) for item in measured if item.what == what],
        queries("timing_histograms", "timing_scenarios"),
        methods=("percentiles",),
    )  # fmt: skip


_BEGAN_WITH = {True: "what brokers notice late", False: "what brokers get", None: "unknown"}


def verdict(measured: Measured) -> str:
    """Whether all intervals are within the limit of the timers."""
    if measured.beyond:
        return "beyond"
    if measured.perhaps_beyond:
        return "perhaps beyond"
    if measured.with_faults:
        return "faults decide"
    return "timers unknown" if measured.limit_ms is None else "within"


def _against(measured: Measured) -> Mapping[str, Any]:
    row: dict[str, Any] = {
        **measured.side._asdict(),
        "began_with": "a sending in a run with faults"
        if measured.with_faults
        else _BEGAN_WITH[measured.unnoticed],
        "verdict": verdict(measured),
        "intervals": measured.intervals,
        "runs": measured.runs,
        "longest_ms": measured.worst.highest_ms,
        "longest_at_least_ms": measured.worst_for_certain.at_least_ms,
        "timers": ", ".join(map(str, measured.deciders)) or "unknown",
        "limit_ms": measured.limit_ms,
        "beyond": measured.beyond,
        "perhaps_beyond": measured.perhaps_beyond,
        "longest_in": measured.worst.scenario,
        "source": measured.worst.source,
        "certain_source": measured.worst_for_certain.certain_source,
    }
    for percent in PERCENTILES:
        found = measured.took.percentile(percent / 100)
        row |= {
            f"p{percent}_ms": found.value,
            f"p{percent}_low_ms": found.low,
            f"p{percent}_high_ms": found.high,
        }
    return row


def scenarios_table(scenarios: Sequence[InScenario]) -> Table:
    """Every kind of interval in every scenario, the longest first."""
    columns: Mapping[str, DataType] = {
        **dict.fromkeys(("what", "scenario", "client", "rocketmq", "cluster", "timing"), _TEXT),
        **dict.fromkeys(("intervals", "runs"), _LONG),
        **dict.fromkeys(("p50_ms", "p90_ms", "p99_ms", "highest_ms", "at_least_ms"), _DOUBLE),
        "source": _TEXT,
    }
    return Table(
        "scenarios",
        "Every scenario",
        "In milliseconds, percentiles to three digits, the longest first. `at_least_ms` is the certain length of "
        "the longest one, and `source` the run in which it was seen.",
        schema(**columns),
        [
            {name: value for name, value in asdict(item).items() if name in columns}
            for item in sorted(
                scenarios, key=lambda scenario: (list(WHATS).index(scenario.what), -scenario.highest_ms)
            )
        ],
        queries("timing_scenarios"),
    )


def timers_table(timers: Mapping[Side, Timers]) -> Table:
    """The timers that were in force."""
    return Table(
        "timers",
        "RocketMQ's timers in these runs",
        "From the run folders: the values that the timing sets, otherwise RocketMQ's own defaults. Older run "
        "folders don't record them.",
        schema(client=_TEXT, rocketmq=_TEXT, timing=_TEXT, timer=_TEXT, milliseconds=_TEXT),
        [
            {
                **side._asdict(),
                "timer": name,
                "milliseconds": ", ".join(str(ms) for ms in sorted(set(values))),
            }
            for side, own in timers.items()
            for name, values in sorted(own.items())
            if not name.startswith("broker.delay-level-")
        ],
        queries("timing_timers"),
    )
