"""A report with every kind of figure, and tables of every kind of column."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from rocketchaos.harness.core.intervals import wilson_interval
from rocketchaos.harness.core.message_classes import CLASS_WORDS
from rocketchaos.harness.core.model import MessageClass
from rocketchaos.spark_reports.render import style
from rocketchaos.spark_reports.render.figures.bars import Bar, stacked_bars
from rocketchaos.spark_reports.render.figures.forest import Estimate, forest
from rocketchaos.spark_reports.render.figures.heat_map import Cell, share_map, verdict_map
from rocketchaos.spark_reports.render.figures.timers import Quantiles, quantile_ranges
from rocketchaos.spark_reports.render.figures.trend import Change, Moment, Series, trend
from rocketchaos.spark_reports.report import Figure, Report, Section, StoreSummary, Table

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "<a href='https://example.org/'>here</a>&amp;%{x}{{7*7}}\u202e\x1b[31m$a and $b"
)
SQL = "SELECT scenario,\n\tCOUNT(*) AS runs\nFROM runs\nWHERE scenario < 'z' -- </script>\nGROUP BY scenario"
VIEW = "SELECT * FROM delta.`file:/store/a` VERSION AS OF 7"
SCENARIOS = (
    "same-group-different-tags",
    "orderly-and-concurrent-in-one-group",
    "late-joiner",
    "a-scenario-whose-name-a-user-has-made-very-long-indeed",
)
COLUMNS = (("java", "4.9.3"), ("java", "5.3.3"), ("python", "4.9.3"), ("python", "5.3.3"), ("grpc", "5.3.3"))
BEGIN = datetime(2026, 1, 1, 2, 11, tzinfo=UTC)

SCHEMA = StructType(
    [
        StructField("scenario", StringType()),
        StructField("client", StringType()),
        StructField("rocketmq", StringType()),
        StructField("cluster", StringType()),
        StructField("runs", LongType()),
        StructField("p_reproduce", DoubleType()),
        StructField("verdict", StringType()),
        StructField("stable", BooleanType()),
        StructField("first", TimestampType()),
        StructField("nodes", ArrayType(StringType())),
        StructField("typical_run", StringType()),
    ]
)


def rows(scenarios: Sequence[str] = SCENARIOS, count: int | None = None) -> list[dict[str, Any]]:
    """A row for each scenario and column, over and over until there are so many."""
    cells = [(scenario, column) for scenario in scenarios for column in COLUMNS]
    return [
        {
            "scenario": scenario,
            "client": client,
            "rocketmq": rocketmq,
            "cluster": "embedded",
            "runs": 20 + n,
            "p_reproduce": None if n % 7 == 6 else (n % 7) / 5,
            "verdict": ("PASS", "FLAKY", "FAIL", "UNKNOWN")[n % 4],
            "stable": n % 2 == 0,
            "first": BEGIN + timedelta(days=n),
            "nodes": ["broker-a", scenario],
            "typical_run": f"s3a://bucket/runs/{n}",
        }
        for n, (scenario, (client, rocketmq)) in enumerate(
            cells[k % len(cells)] for k in range(count or len(cells))
        )
    ]


def figures(names: Sequence[str] = SCENARIOS) -> list[Figure]:
    """One of every kind."""
    places = [(name, column, n) for n, (name, column) in enumerate((a, b) for a in names for b in COLUMNS)]
    verdicts = ("PASS", "FLAKY", "FAIL")
    timers = {"rebalance 20 s": 20_000.0, "heartbeat 30 s": 30_000.0, names[0]: 1_000.0}
    plots = {
        "verdicts": verdict_map(
            [
                Cell(name, column, verdicts[n % 3], f"{verdicts[n % 3]}\n{n}/40", [name])
                for name, column, n in places
                if n % 9
            ]
        ),
        "shares": share_map([Cell(name, column, n / 40, f"{n}/40") for name, column, n in places]),
        "intervals": forest(
            [
                Estimate(
                    (name, " ".join(column)), n / 40, *wilson_interval(n, 40), f"{n}/40", verdicts[n % 3]
                )
                for name, column, n in places
            ],
            "P(reproduce)",
            bounds=(0, 1),
            percent=True,
        ),
        "fates": stacked_bars(
            [
                Bar(
                    (name, " ".join(column)),
                    {item: 7 * k + n for k, item in enumerate(MessageClass) if k != 3},
                )
                for name, column, n in places[:8]
            ],
            style.CLASS_COLOURS,
            {item: words.text for item, words in CLASS_WORDS.items()},
            {item: words.code for item, words in CLASS_WORDS.items()},
        ),
        "trend": trend(
            [
                Series(
                    name,
                    [
                        Moment(
                            BEGIN + timedelta(days=n),
                            0.9 if n < 9 else 0.4,
                            0.3 if n > 8 else 0.8,
                            1.0,
                            [name],
                        )
                        for n in range(20)
                    ],
                    [Change(BEGIN + timedelta(days=9), f"{name[:9]} → 5.3.3", bad=True)],
                )
                for name in sorted(names, key=len)[:-4:-1]
            ],
            bounds=(0, 1),
            percent=True,
        ),
        "times": quantile_ranges(
            [Quantiles((name, "java"), 0.0, 40.0, 900.0, 21_000.0, 300) for name in names], timers
        ),
    }
    return [Figure(name, f"The {name}", "How to read it.", plot, SQL) for name, plot in plots.items()]


def summary(**more: Any) -> StoreSummary:
    """A store with runs, and with two folders that could not be read."""
    known: dict[str, Any] = {
        "uri": "file:///somewhere/store",
        "runs": 1_234,
        "messages": 567_890,
        "scenarios": 4,
        "hosts": 3,
        "first": BEGIN,
        "last": BEGIN + timedelta(days=90),
        "quarantined": 3,
        "quarantine_reasons": {"truncated": 1, "still-running": 2},
        "quarantine_newest": ["file:/runs/s/1: its run.json is cut off", "file:/runs/s/2: it still runs"],
        "clock_jumps": 1,
        "versions": {"runs": 7},
        "views": [f"CREATE OR REPLACE TEMPORARY VIEW {name} AS\n{VIEW};" for name in ("runs", "messages")],
    }
    return StoreSummary(**(known | more))


def whole(names: Sequence[str] = SCENARIOS, count: int | None = None) -> Report:
    """A report with everything."""
    first, *others = figures(names)
    return Report(
        "flakiness",
        f"Which results can be trusted: {names[0]}",
        f"1 of 20 cells is FLAKY: {names[0]} on java 5.3.3.",
        [f"{names[0]}, java 5.3.3: FLAKY, 22 of 46 runs.", "3 folders are quarantined."],
        [
            Section(
                "Verdicts",
                names[0],
                [first, Table("cells", "All cells", "A row a cell.", SCHEMA, rows(names, count), SQL)],
            ),
            Section("The rest", "Of every kind one.", others),
        ],
        summary(quarantine_reasons={"truncated": 1, names[0]: 2}),
    )


def empty() -> Report:
    """Of an empty store."""
    return Report(
        "timing",
        "How long it takes",
        "The store has no runs.",
        [],
        [Section("Times", "", [Table("times", "Times", "A row a time.", SCHEMA, [], SQL)])],
        summary(
            runs=0,
            messages=0,
            scenarios=0,
            hosts=0,
            first=None,
            last=None,
            quarantined=0,
            quarantine_reasons={},
            quarantine_newest=[],
            clock_jumps=0,
        ),
    )
