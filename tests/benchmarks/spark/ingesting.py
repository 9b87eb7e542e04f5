"""How fast run folders become facts, beside a bare conversion of the same files by the same Spark."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as fn
from pyspark.sql.types import StructType

from rocketchaos.spark_reports.contract import MESSAGE
from rocketchaos.spark_reports.ingest.ingest import ingest
from rocketchaos.spark_reports.store import Store
from tests.benchmarks.spark.folders import copy_as_others, write_folders
from tests.benchmarks.spark.watching import Watched, watched

WARM_UP = 20_000
PART = 10**7
"""So many message facts are on disk as run folders at a time, 19 GB."""
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ingested:
    """One size."""

    facts: int
    input_bytes: int
    bare_messages: Sequence[Watched]
    """Of `messages.jsonl`, to Parquet."""
    bare_events: Sequence[Watched]
    """Of `events.jsonl`: only read, which an ingest has to do too, to know that it is as it was judged."""
    ingest: Sequence[Watched]
    again_s: float
    """Seconds of the same ingest once more, of the last part, which changes nothing."""

    def ratios(self, unit: str) -> list[float]:
        """The bare conversion of the same files by the ingest: in `seconds`, or in `cpu_s`."""
        return [
            (getattr(messages, unit) + getattr(events, unit)) / getattr(work, unit)
            for messages, events, work in zip(self.bare_messages, self.bare_events, self.ingest, strict=True)
        ]


def measure_ingest(
    spark: SparkSession, sizes: Sequence[int], places: Sequence[Path], repeats: int, say: Progress, disk: Path
) -> list[Ingested]:
    """Ingest and bare conversion in turn, after a small one of each that warms everything.

    Sizes of `PART` and more are measured once and together: the smaller ones are the first parts of the largest.
    """
    with tempfile.TemporaryDirectory(prefix="bench-spark-", dir=disk) as name:
        small = Path(name) / "small"
        write_folders(small, WARM_UP, 1000, places)
        bare(spark, small, "messages.jsonl", MESSAGE, Path(name), say)
        bare_reading(spark, small, "events.jsonl", say)
        ingested(spark, small, Path(name) / "warm", say)
    together = sorted(facts for facts in sizes if facts >= PART)
    alone = [([facts], repeats) for facts in sorted(sizes) if facts < PART]
    text: list[Ingested] = []
    for some, often in [*alone, (together, 1)]:
        with tempfile.TemporaryDirectory(prefix="bench-spark-", dir=disk) as name:
            text += _measure_parts(spark, some, places, often, say, Path(name))
    return text


def _measure_parts(
    spark: SparkSession,
    sizes: Sequence[int],
    places: Sequence[Path],
    repeats: int,
    say: Progress,
    folder: Path,
) -> Iterator[Ingested]:
    """Sizes in their order, one growing out of the other.

    Of more facts than `PART`, so many are made, and then copied as other runs: each part is measured, ingested
    into the store of those before it, and removed. As JSON lines 10^8 of them take 190 GB.
    """
    if not sizes:
        return
    ends = {math.ceil(facts / PART) for facts in sizes}
    of_messages, of_events, text = ([Watched() for _ in range(repeats)] for _ in range(3))
    say(f"{sizes[-1]:,} message facts: writing run folders")
    first = folder / "runs"
    made = write_folders(first, min(PART, sizes[-1]), _per_run(sizes[-1]), places)
    size = sum(file.stat().st_size for file in first.rglob("*.jsonl"))
    written = sum(1 for _ in first.glob("*/*"))
    for part in range(max(ends)):
        runs = first
        if part:
            say(f"part {part + 1} of {max(ends)}: copying run folders")
            runs = folder / f"runs-{part}"
            copy_as_others(first, runs, part * written)
        again_s = 0.0
        for number in range(repeats):
            of_messages[number] += bare(spark, runs, "messages.jsonl", MESSAGE, folder, say)
            of_events[number] += bare_reading(spark, runs, "events.jsonl", say)
            store = folder / f"store-{number}"
            text[number] += ingested(spark, runs, store, say)
            again_s = ingested(spark, runs, store, say).seconds
        if part:
            shutil.rmtree(runs)
        if part + 1 in ends:
            so_far = (deepcopy(of_messages), deepcopy(of_events), deepcopy(text))
            yield Ingested(made * (part + 1), size * (part + 1), *so_far, again_s)


def bare(
    spark: SparkSession, runs: Path, name: str, schema: StructType, folder: Path, say: Progress
) -> Watched:
    """The plainest conversion to Parquet of all files of one name."""
    target = folder / "bare"
    with watched(spark) as text:
        spark.read.schema(schema).json(f"{runs}/*/*/{name}").write.parquet(str(target))
    say(f"bare conversion of {name}: {text.seconds:.1f} s")
    shutil.rmtree(target)
    return text


def bare_reading(spark: SparkSession, runs: Path, name: str, say: Progress) -> Watched:
    """The plainest reading of all lines of all files of one name."""
    with watched(spark) as text:
        spark.read.text(f"{runs}/*/*/{name}").agg(fn.sum(fn.length("value"))).collect()
    say(f"bare reading of {name}: {text.seconds:.1f} s")
    return text


def ingested(spark: SparkSession, runs: Path, store: Path, say: Progress) -> Watched:
    """One ingest."""
    with watched(spark) as text:
        summary = ingest(spark, Store.create(spark, str(store)), [str(runs)], lambda _text: None)
    if summary.quarantined:
        raise SystemExit(f"run folders of the bench were quarantined: {dict(summary.quarantined)}")
    say(f"ingest: {text.seconds:.1f} s, {summary.ingested} runs, {summary.unchanged} known")
    return text


def _per_run(facts: int) -> int:
    """Messages of one run: there are 200 runs at least."""
    return max(100, min(10_000, facts // 200))
