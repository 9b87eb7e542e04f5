"""Some thousand run folders at a time: from their files to one transaction of the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as fn

from spark_reports.ingest import soundness
from spark_reports.ingest.broken_lines import first_broken_lines
from spark_reports.ingest.checks import checks
from spark_reports.ingest.conditions import conditions
from spark_reports.ingest.events import PART, history, staged
from spark_reports.ingest.faults import faults
from spark_reports.ingest.findings import findings
from spark_reports.ingest.listing import Folder, again
from spark_reports.ingest.logs import log_findings
from spark_reports.ingest.messages import messages
from spark_reports.ingest.offsets import offsets
from spark_reports.ingest.ownership import ownership
from spark_reports.ingest.quarantine import BROKEN, Problem, changed, problem_of
from spark_reports.ingest.reading import documents, event_lines, message_lines
from spark_reports.ingest.runs import runs
from spark_reports.ingest.seen import NUMBERS, seen_of, what_is_seen
from spark_reports.ingest.staging import Staging, staging
from spark_reports.ingest.subscriptions import subscriptions
from spark_reports.ingest.summary import IngestSummary
from spark_reports.ingest.timings import timings
from spark_reports.ingest.witnesses import witnesses
from spark_reports.store import Store
from spark_reports.tables import (
    CHECKS,
    CONDITIONS,
    FAULTS,
    FINDINGS,
    MESSAGES,
    OFFSETS,
    OWNERSHIP,
    QUARANTINE,
    RUNS,
    SUBSCRIPTIONS,
    TIMINGS,
)

_BYTES_EACH = 32 * 2**20
"""Of the input for one partition of messages."""


class Portion:
    """Run folders that become facts together, or not at all."""

    def __init__(self, spark: SparkSession, store: Store, folders: Sequence[Folder]) -> None:
        self._spark = spark
        self._store = store
        self._folders = {one.source: one for one in folders}
        self._batch = store.begin()

    def ingest(self) -> IngestSummary:
        """Read the folders, append their facts, and commit the runs of those that are fit."""
        with staging(self._spark, self._store, self._batch) as place:
            found = place.keep("documents", self._documents())
            keys = found.where("run IS NOT NULL AND counts").select("place", "run_key", "run", "batch")
            lines = place.keep("events", staged(event_lines(self._spark, self._listed), keys), by=PART)
            whole = place.keep("histories", soundness.of_histories(lines))
            sound = whole.where("in_order AND broken_events = 0 AND ends > 0").select("run_key")
            events = history(lines, sound)
            self._append_messages(events, keys)
            seen = self._seen(place, found, lines, whole)
            rows = {row.source: row for row in seen.select(*NUMBERS).collect()}
            problems = self._problems(rows)
            fit = [row.run_key for source, row in rows.items() if source not in problems and row.counts]
            if fit:
                self._append_others(seen.where(fn.col("counts") & fn.col("run_key").isin(fit)), events)
            return self._commit(seen, rows, problems)

    @property
    def _listed(self) -> list[Folder]:
        return list(self._folders.values())

    def _documents(self) -> DataFrame:
        """A row for each folder: what was listed, and its documents.

        `counts` is false where another folder has the same run, judged later, here or in the store.
        """
        listed = self._spark.createDataFrame(
            [(one.source, one.listing, one.judged_ms) for one in self._listed],
            "source string, listing string, judged_ms long",
        )
        read = documents(self._spark, self._listed).withColumnsRenamed(
            {"run": "record", "outcome": "verdict"}
        )
        own = listed.join(read, "source", "left").withColumn("run", fn.col("record.run"))
        latest = Window.partitionBy("run").orderBy(fn.desc("judged_ms"), "source")
        stored = self._store.read(RUNS).select(
            "run",
            fn.col("source").alias("stored_source"),
            fn.col("digest").alias("stored_digest"),
            fn.unix_millis("judged").alias("stored_judged_ms"),
        )
        elsewhere = fn.expr("stored_source <> source AND stored_judged_ms >= judged_ms")
        return (
            own.withColumn("first", (fn.row_number().over(latest) == 1) | fn.col("run").isNull())
            .join(stored, "run", "left")
            .withColumn("counts", fn.col("first") & ~fn.coalesce(elsewhere, fn.lit(False)))
            .withColumn("batch", fn.lit(self._batch))
            .withColumn("run_key", fn.xxhash64("run", "batch"))
            .drop("first")
        )

    def _append_messages(self, events: DataFrame, keys: DataFrame) -> None:
        size = sum(one.files["messages.jsonl"].size for one in self._listed if "messages.jsonl" in one.files)
        partitions = max(self._spark.sparkContext.defaultParallelism, size // _BYTES_EACH + 1)
        lines = message_lines(self._spark, self._listed)
        rows = messages(lines, keys, witnesses(events, partitions), partitions)
        self._store.append(MESSAGES, rows)

    def _append_others(self, fit: DataFrame, events: DataFrame) -> None:
        story = events.where(fn.col(PART) == "rest")
        logs = log_findings(self._spark, fit)
        for table, rows in (
            (SUBSCRIPTIONS, subscriptions(story)),
            (OWNERSHIP, ownership(story)),
            (OFFSETS, offsets(story)),
            (FAULTS, faults(story)),
            (CHECKS, checks(fit)),
            (FINDINGS, findings(fit, events, logs)),
            (TIMINGS, timings(events)),
            (CONDITIONS, conditions(fit, events)),
        ):
            self._store.append(table, rows)

    def _seen(self, place: Staging, found: DataFrame, lines: DataFrame, whole: DataFrame) -> DataFrame:
        """Everything that is known of each folder: its documents, and what its files add up to."""
        own = self._store.read(MESSAGES).where(fn.col("batch") == self._batch)
        groups = soundness.groups_of(lines)
        sums = soundness.of_messages(own, groups)
        every = found.join(whole, "run_key", "left").join(sums, "run_key", "left")
        return place.keep("seen", every.transform(what_is_seen).withColumn("digest", soundness.digest()))

    def _problems(self, rows: Mapping[str, Row]) -> dict[str, Problem]:
        """Source: why it is not fit."""
        problems = {}
        for source, row in rows.items():
            problem = problem_of(seen_of(self._folders[source], row)) if row.counts else None
            if problem is not None:
                problems[source] = problem
        lines = first_broken_lines(
            self._spark,
            [
                f"{source}/{one.file}"
                for source, one in problems.items()
                if one.kind == BROKEN and one.file and one.file.endswith(".jsonl")
            ],
        )
        now = again(self._spark, self._listed)
        for source, folder in self._folders.items():
            if now.get(source) != folder.listing:
                problems[source] = changed()
        return {source: lines.located(source, one) for source, one in problems.items()}

    def _commit(
        self, seen: DataFrame, rows: Mapping[str, Row], problems: Mapping[str, Problem]
    ) -> IngestSummary:
        if problems:
            self._quarantine(rows, problems)
        fit = {source: row for source, row in rows.items() if source not in problems}
        new = {source: row for source, row in fit.items() if row.counts and row.digest != row.stored_digest}
        committed = [row.run_key for row in fit.values() if row.counts]
        if committed:
            self._store.commit(runs(seen.where(fn.col("counts") & fn.col("run_key").isin(committed))))
        replaced = sum(row.stored_digest is not None for row in new.values())
        return IngestSummary(
            ingested=len(new) - replaced,
            replaced=replaced,
            unchanged=len(fit) - len(new),
            quarantined=dict(sorted(Counter(one.kind for one in problems.values()).items())),
            messages=sum(row.message_count or 0 for row in new.values()),
        )

    def _quarantine(self, rows: Mapping[str, Row], problems: Mapping[str, Problem]) -> None:
        found = datetime.now(UTC)
        self._store.quarantine(
            self._spark.createDataFrame(
                [
                    (
                        source,
                        rows[source].digest,
                        None if one.passing else self._folders[source].listing,
                        rows[source].run,
                        rows[source].scenario,
                        one.kind,
                        one.file,
                        one.line,
                        one.reason,
                        self._batch,
                        found,
                    )
                    for source, one in problems.items()
                ],
                QUARANTINE.schema,
            )
        )
