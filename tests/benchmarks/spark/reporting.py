"""How long the reports take: every query by Spark and by DuckDB, and every report as a whole."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from pyspark.sql import SparkSession

import rocketchaos.spark_reports.queries
from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.queries import query
from rocketchaos.spark_reports.report_kinds import REPORTS
from rocketchaos.spark_reports.store import Store
from tests.benchmarks.spark.beside import asked, difference, duck
from tests.benchmarks.spark.facts import write_store
from tests.benchmarks.spark.fit import fit
from tests.benchmarks.spark.runs import Size
from tests.benchmarks.spark.watching import Watched, watched
from tests.benchmarks.spark.world import planted_world

WARM_UP = 100_000
ENGINES = ("spark", "duckdb")
Progress = Callable[[str], None]


@dataclass(slots=True)
class Asked:
    """One query at one size."""

    spark: list[Watched] = field(default_factory=list)
    duck_s: list[float] = field(default_factory=list)
    rows: int = 0
    refusal: str = ""
    """Why DuckDB doesn't take it."""
    difference: str = ""
    """Rows that only one of the two gave."""


@dataclass(frozen=True, slots=True)
class Reported:
    """One size."""

    facts: int
    runs: int
    parquet_bytes: int
    write_s: float
    queries: Mapping[str, Asked]
    reports: Mapping[str, Watched]
    commands: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """`report all` by engine, from the command to its files: seconds, and seconds of processors."""


def all_queries() -> list[str]:
    """Names of all queries of all reports."""
    return sorted(
        item.name.removesuffix(".sql")
        for item in files(rocketchaos.spark_reports.queries).iterdir()
        if item.name.endswith(".sql")
    )


def measure_reports(
    spark: SparkSession,
    facts: int,
    places: Sequence[Path],
    repeats: int,
    say: Progress,
    disk: Path,
    memory_gib: int,
) -> Reported:
    """A store of this size, written, asked and removed."""
    with tempfile.TemporaryDirectory(prefix="bench-spark-", dir=disk) as name:
        folder = Path(name) / "store"
        say(f"{facts:,} message facts: writing the store")
        began = time.monotonic()
        write_store(spark, str(folder), planted_world(fit(places)), Size(facts))
        write_s = time.monotonic() - began
        store = Store.open(spark, str(folder))
        store.register()
        queries = ask_all(spark, store, repeats, say, memory_gib)
        reports = {}
        for report, build in REPORTS.items():
            with watched(spark) as text:
                build(Answers(spark), store.summary())
            reports[report] = text
            say(f"report {report}: {text.seconds:.1f} s")
        size = sum(file.stat().st_size for file in folder.rglob("*.parquet"))
        summary = store.summary()
        commands = {engine: _command(folder, Path(name) / "out", engine) for engine in ENGINES}
        say(
            f"report all: {', '.join(f'{took_s:.1f} s by {engine}' for engine, (took_s, _) in commands.items())}"
        )
        return Reported(summary.messages, summary.runs, size, write_s, queries, reports, commands)


def _command(store: Path, out: Path, engine: str) -> tuple[float, float]:
    """Seconds of `report all`, and those of processors."""
    before, began = _children_s(), time.monotonic()
    command = [sys.executable, "-m", "rocketchaos", "report", "all", "--store", str(store), "--out", str(out)]
    subprocess.run([*command, "--engine", engine], check=True, capture_output=True)
    return time.monotonic() - began, _children_s() - before


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ask_once(spark: SparkSession, places: Sequence[Path], say: Progress, disk: Path) -> None:
    """Warm everything: start-up is no part of what is measured."""
    say("warming up")
    measure_reports(spark, WARM_UP, places, 1, lambda _text: None, disk, 1)


def ask_all(
    spark: SparkSession, store: Store, repeats: int, say: Progress, memory_gib: int
) -> dict[str, Asked]:
    """Every query, by both, in turn."""
    answers = {name: Asked() for name in all_queries()}
    with duck(store, spark.sparkContext.defaultParallelism, memory_gib) as connection:
        for _ in range(repeats):
            for name, answer in answers.items():
                with watched(spark) as text:
                    rows = spark.sql(query(name)).collect()
                answer.spark.append(text)
                answer.rows = len(rows)
                duck_s, found = asked(connection, query(name))
                if isinstance(found, str):
                    answer.refusal = found
                else:
                    answer.duck_s.append(duck_s)
                    answer.difference = answer.difference or difference(rows, found)
                say(
                    f"{name}: {text.seconds:.2f} s, DuckDB {answer.refusal or f'{duck_s:.2f} s'}, {len(rows)} rows"
                )
    return answers
