"""Where a file of JSON lines is broken: looked up again, and only of folders that are quarantined for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as fn

from rocketchaos.spark_reports.contract import EVENT, MESSAGE
from rocketchaos.spark_reports.ingest.events import is_broken
from rocketchaos.spark_reports.ingest.messages import BROKEN, problem_of_line
from rocketchaos.spark_reports.ingest.quarantine import Problem
from rocketchaos.spark_reports.ingest.reading import numbered_lines, parsed, source_of

MOST = 1_000
"""Of so many files at most the line is looked up."""


@dataclass(frozen=True, slots=True)
class BrokenLines:
    """The first broken lines of files."""

    lines: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Source and name of the file: its line, from 1."""

    def located(self, source: str, problem: Problem) -> Problem:
        """The problem, with its line where it is known."""
        line = self.lines.get((source, problem.file or ""))
        if line is None:
            return problem
        return replace(problem, line=line, reason=f"{problem.reason} (the first is line {line})")


def first_broken_lines(spark: SparkSession, paths: Sequence[str]) -> BrokenLines:
    """Look it up."""
    if not paths:
        return BrokenLines()
    order = Window.partitionBy("place", "file").orderBy("block", "position")
    broken = (
        numbered_lines(spark, paths[:MOST])
        .withColumn("line", fn.row_number().over(order))
        # What is blank is no line for who reads JSON lines.
        .where(fn.col("value").rlike(r"\S"))
        .withColumns({"event": parsed(fn.col("value"), EVENT), "message": parsed(fn.col("value"), MESSAGE)})
        .where(_is_broken())
        .groupBy("place", "file")
        .agg(fn.min("line").alias("line"))
        .select(source_of(fn.col("place")).alias("source"), "file", "line")
    )
    return BrokenLines({(row.source, row.file): row.line for row in broken.collect()})


def _is_broken() -> str:
    # As the one element of an array each line is parsed once, and not for each field that is asked for.
    event, message = is_broken("one."), f"{problem_of_line('one.')} <=> '{BROKEN}'"
    # Text is made valid before it is parsed here, and a file of lines is not.
    return (
        "NOT is_valid_utf8(value) OR CASE WHEN file = 'events.jsonl' "
        f"THEN exists(array(event), one -> {event}) ELSE exists(array(message), one -> {message}) END"
    )
