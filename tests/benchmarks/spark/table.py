"""What was measured, as a table of docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from tests.benchmarks.spark.ingesting import Ingested
    from tests.benchmarks.spark.reporting import Asked, Reported
    from tests.benchmarks.spark.watching import Watched

SKEW_LIMIT = 4.0
"""The longest task of a stage takes at most so many times the median."""


@dataclass(slots=True)
class Measured:
    """One run of the bench."""

    load_start: float
    load_end: float = 0.0
    ingest: list[Ingested] = field(default_factory=list)
    ingest_memory: float = 0.0
    """MiB of RAM at most."""
    reports: list[Reported] = field(default_factory=list)
    reports_memory: float = 0.0

    def complaints(self) -> list[str]:
        """What must not be."""
        found = [
            f"ingest: {text}" for item in self.ingest for work in item.ingest for text in _complaints(work)
        ]
        for report in self.reports:
            for name, asked in report.queries.items():
                found += [f"{name}: {text}" for work in asked.spark for text in _complaints(work)]
                if asked.refusal:
                    found.append(f"{name}: DuckDB does not take it: {asked.refusal}")
                if asked.difference:
                    found.append(f"{name}: Spark and DuckDB give different rows: {asked.difference}")
            found += [
                f"report {name}: {text}"
                for name, work in report.reports.items()
                for text in _complaints(work)
            ]
        return found


def _complaints(work: Watched) -> list[str]:
    skewed = f"the longest task takes {work.skew:.1f} times the median one: {work.skewed_stage}"
    return work.complaints() + [skewed] * (work.skew > SKEW_LIMIT)


def tables(measured: Measured, cores: int, memory_gib: int) -> dict[str, str]:
    """In Markdown, with machine and date: of `ingest` and `reports` what was measured."""
    head = (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores ({platform.machine()}), "
        f"{psutil.virtual_memory().total // 2**30} GiB, Spark {version('pyspark')} on {cores} cores with "
        f"{memory_gib} GiB, Delta {version('delta-spark')}, DuckDB {version('duckdb')} with as much, "
        f"load {measured.load_start:.1f} before and {measured.load_end:.1f} after:"
    )
    parts = {"ingest": _ingest(measured), "reports": _reports(measured)}
    return {name: f"{head}\n\n{part}" for name, part in parts.items() if part}


def _ingest(measured: Measured) -> str:
    if not measured.ingest:
        return ""
    rows = [["ingest of run folders", *(_count(item.facts) for item in measured.ingest), "aim"]]
    rows.append(["JSON lines", *(f"{item.input_bytes / 2**20:,.0f} MiB" for item in measured.ingest), ""])
    for name, works in (
        ("bare conversion of `messages.jsonl`", "bare_messages"),
        ("bare reading of `events.jsonl`", "bare_events"),
    ):
        text = (_s(getattr(item, works)) for item in measured.ingest)
        rows.append([name, *text, ""])
    rows.append(["`report ingest`, facts included", *(_s(item.ingest) for item in measured.ingest), ""])
    each = (statistics.median(work.seconds for work in item.ingest) / item.facts for item in measured.ingest)
    rows.append(["of it: for 1,000,000 message facts", *(f"{item * 10**6:.1f} s" for item in each), ""])
    for unit, name in (("seconds", "speed / bare speed"), ("cpu_s", "the same in processor time")):
        ratios = (statistics.median(item.ratios(unit)) for item in measured.ingest)
        rows.append([f"of it: {name}", *(f"{ratio:.2f}" for ratio in ratios), "≥ 0.5"])
    rows.append(
        ["the same once more: nothing changes", *(f"{item.again_s:.1f} s" for item in measured.ingest), ""]
    )
    rows.append(_skew_row([[work.skew for work in item.ingest] for item in measured.ingest]))
    rows.append(_memory_row(measured.ingest_memory, len(measured.ingest)))
    rows.append(["measurements", *(str(len(item.ingest)) for item in measured.ingest), ""])
    return _markdown(rows)


def _reports(measured: Measured) -> str:
    if not measured.reports:
        return ""
    sizes = measured.reports
    rows = [["reports, Spark (DuckDB)", *(_count(size.facts) for size in sizes), "aim"]]
    rows.append(
        ["runs; Parquet", *(f"{size.runs:,}; {size.parquet_bytes / 2**20:,.0f} MiB" for size in sizes), ""]
    )
    for name in sizes[0].queries:
        rows.append([f"`{name}`", *(_beside(size.queries[name]) for size in sizes), ""])
    totals = [
        (
            sum(
                statistics.median([work.seconds for work in asked.spark])
                for asked in size.queries.values()
                if asked.duck_s
            ),
            sum(statistics.median(asked.duck_s) for asked in size.queries.values() if asked.duck_s),
        )
        for size in sizes
    ]
    rows.append(["all that both take", *(f"{spark:.1f} s ({duck:.1f} s)" for spark, duck in totals), ""])
    rows.append(["of it: Spark / DuckDB", *(f"{spark / duck:.1f}" for spark, duck in totals), "≤ 5 at 10^8"])
    for name in sizes[0].reports:
        rows.append([f"`report {name}`", *(f"{size.reports[name].seconds:.1f} s" for size in sizes), ""])
    whole = [sum(work.seconds for work in size.reports.values()) for size in sizes]
    rows.append(["all reports", *(f"{seconds:.1f} s" for seconds in whole), "≤ 360 s at 10^8"])
    for engine in sizes[0].commands:
        took = [size.commands[engine] for size in sizes]
        name = f"`report all --engine {engine}`, from command to files (processor time)"
        rows.append([name, *(f"{all_s:.1f} s ({cpu_s:.1f} s)" for all_s, cpu_s in took), "≤ 8 s at 10^6"])
    rows.append(
        _skew_row([[work.skew for asked in size.queries.values() for work in asked.spark] for size in sizes])
    )
    rows.append(_memory_row(measured.reports_memory, len(sizes)))
    rows.append(
        [
            "measurements",
            *(str(max(len(asked.spark) for asked in size.queries.values())) for size in sizes),
            "",
        ]
    )
    return _markdown(rows)


def _skew_row(skews: list[list[float]]) -> list[str]:
    return [
        "longest task / median task, the worst stage",
        *(f"{max(some):.1f}" for some in skews),
        f"≤ {SKEW_LIMIT:g}",
    ]


def _memory_row(peak_mib: float, sizes: int) -> list[str]:
    return ["RAM of Spark's JVM at most, with its heap", *([""] * (sizes - 1)), f"{peak_mib:,.0f} MiB", ""]


def _beside(asked: Asked) -> str:
    spark = statistics.median([work.seconds for work in asked.spark])
    return (
        f"{spark:.1f} s ({statistics.median(asked.duck_s):.2f} s)" if asked.duck_s else f"{spark:.1f} s (–)"
    )


def _s(works: Sequence[Watched]) -> str:
    return f"{statistics.median(work.seconds for work in works):.1f} s"


def _count(facts: int) -> str:
    return f"{facts:,} message facts"


def _markdown(rows: list[list[str]]) -> str:
    head, *rest = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rest))
