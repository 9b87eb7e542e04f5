"""What a Spark did meanwhile, by its own books: stages, tasks, plans, and the memory of its JVM."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any, Self

import psutil
from pyspark.sql import SparkSession

PYTHON_IN_PLANS = ("BatchEvalPython", "ArrowEvalPython", "MapInPandas", "MapInArrow", "FlatMapGroupsInPandas")
"""What plans call rows that go through Python."""
TELLING_TASKS, TELLING_S = 4, 2.0
"""Only stages with so many tasks, the longest of which takes so long, can be called skewed."""
COLLECTED_BYTES = 64 * 2**20
"""Results larger than this can't be aggregates."""


@dataclass(slots=True)
class Watched:
    """One piece of work."""

    seconds: float = 0.0
    cpu_s: float = 0.0
    """Of the whole JVM, all its threads: the same on a busy machine."""
    stages: int = 0
    result_bytes: int = 0
    """Of all tasks: what came to the driver; of work in parts, of the part with the most."""
    skew: float = 1.0
    """The longest task of a stage by its median one, the worst of all telling stages."""
    skewed_stage: str = ""
    spilled_bytes: int = 0
    python: list[str] = field(default_factory=list)
    """Plans with rows that go through Python."""

    def __iadd__(self, other: Watched) -> Self:
        """One more part of the same work."""
        self.seconds += other.seconds
        self.cpu_s += other.cpu_s
        self.stages += other.stages
        self.result_bytes = max(self.result_bytes, other.result_bytes)
        if other.skew > self.skew:
            self.skew, self.skewed_stage = other.skew, other.skewed_stage
        self.spilled_bytes += other.spilled_bytes
        self.python += other.python
        return self

    def complaints(self) -> list[str]:
        """What must not be."""
        found = [f"rows go through Python: {plan}" for plan in self.python]
        if self.result_bytes > COLLECTED_BYTES:
            found.append(f"{self.result_bytes / 2**20:.0f} MiB came to the driver: facts were collected")
        return found


@contextmanager
def watched(spark: SparkSession) -> Iterator[Watched]:
    """The work of the block."""
    shown = Watched()
    stages, plans = _last(_stages(spark)), _last(_plans(spark))
    began, cpu_s = time.monotonic(), _cpu_s(spark)
    yield shown
    shown.seconds, shown.cpu_s = time.monotonic() - began, _cpu_s(spark) - cpu_s
    for _, stage in takewhile(lambda item: item[0] > stages, _stages(spark)):
        _add(shown, spark, stage)
    for number, execution in takewhile(lambda item: item[0] > plans, _plans(spark)):
        plan = execution.physicalPlanDescription()
        shown.python += [f"{word} in query {number}" for word in PYTHON_IN_PLANS if word in plan]


def _last(newest_first: Iterator[tuple[int, Any]]) -> int:
    """The number of the newest; none is older than 0."""
    return next((number for number, _ in newest_first), -1)


def _add(text: Watched, spark: SparkSession, stage: Any) -> None:
    if stage.numCompleteTasks() == 0:
        return  # skipped: its shuffle was there
    text.stages += 1
    text.result_bytes += stage.resultSize()
    text.spilled_bytes += stage.diskBytesSpilled()
    if stage.numCompleteTasks() < TELLING_TASKS:
        return
    gateway: Any = spark.sparkContext._gateway
    quantiles = gateway.new_array(gateway.jvm.double, 2)
    quantiles[0], quantiles[1] = 0.5, 1.0
    summary = _books(spark).taskSummary(stage.stageId(), stage.attemptId(), quantiles)
    if not summary.isDefined():
        return
    times = summary.get().executorRunTime()
    median_ms, longest_ms = times.apply(0), times.apply(1)
    if longest_ms >= TELLING_S * 1000 and longest_ms / max(1.0, median_ms) > text.skew:
        text.skew = longest_ms / max(1.0, median_ms)
        text.skewed_stage = f"stage {stage.stageId()}: {stage.name()}, {stage.numCompleteTasks()} tasks"


def _books(spark: SparkSession) -> Any:
    return spark.sparkContext._jsc.sc().statusStore()


def _stages(spark: SparkSession) -> Iterator[tuple[int, Any]]:
    """The newest first: each word with the JVM takes time, and there are a thousand."""
    gateway: Any = spark.sparkContext._gateway
    jvm: Any = spark.sparkContext._jvm
    nothing = jvm.java.util.ArrayList()
    found = _books(spark).stageList(nothing, False, False, gateway.new_array(jvm.double, 0), nothing)
    for place in range(found.size()):
        stage = found.apply(place)
        yield stage.stageId(), stage


def _plans(spark: SparkSession) -> Iterator[tuple[int, Any]]:
    """The newest first."""
    found = spark._jsparkSession.sharedState().statusStore().executionsList()
    for place in reversed(range(found.size())):
        execution = found.apply(place)
        yield execution.executionId(), execution


def _jvm_process(spark: SparkSession) -> psutil.Process:
    jvm: Any = spark.sparkContext._jvm
    return psutil.Process(jvm.java.lang.ProcessHandle.current().pid())


def _cpu_s(spark: SparkSession) -> float:
    times = _jvm_process(spark).cpu_times()
    return float(times.user + times.system)


def peak_memory(spark: SparkSession) -> float:
    """MiB of RAM that the driver's JVM has had at most so far, with all that isn't on its heap."""
    status = Path(f"/proc/{_jvm_process(spark).pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024
