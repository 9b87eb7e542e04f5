"""Some thousand run folders at a time: from their files to one transaction of the store."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as fn

from rocketchaos.spark_reports.ingest import soundness
from rocketchaos.spark_reports.ingest.broken_lines import first_broken_lines
from rocketchaos.spark_reports.ingest.checks import checks
from rocketchaos.spark_reports.ingest.conditions import conditions
from rocketchaos.spark_reports.ingest.events import HARDLY_REPEATED, history, staged, story
from rocketchaos.spark_reports.ingest.faults import faults
from rocketchaos.spark_reports.ingest.findings import findings
from rocketchaos.spark_reports.ingest.listing import Folder, again, is_local
from rocketchaos.spark_reports.ingest.logs import log_findings
from rocketchaos.spark_reports.ingest.messages import messages
from rocketchaos.spark_reports.ingest.offsets import offsets
from rocketchaos.spark_reports.ingest.ownership import ownership
from rocketchaos.spark_reports.ingest.quarantine import BROKEN, Problem, changed, copy_of, gone, problem_of
from rocketchaos.spark_reports.ingest.reading import documents, event_lines, message_lines
from rocketchaos.spark_reports.ingest.runs import runs
from rocketchaos.spark_reports.ingest.seen import NUMBERS, seen_of, what_is_seen
from rocketchaos.spark_reports.ingest.staging import Staging, staging
from rocketchaos.spark_reports.ingest.subscriptions import subscriptions
from rocketchaos.spark_reports.ingest.summary import IngestSummary
from rocketchaos.spark_reports.ingest.timings import timings
from rocketchaos.spark_reports.ingest.totals import in_time, totals
from rocketchaos.spark_reports.ingest.witnesses import witnesses
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.tables import (
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

    def __init__(
        self,
        spark: SparkSession,
        store: Store,
        folders: Sequence[Folder],
        is_gone: Callable[[str], bool],
        quarantined: Mapping[str, str | None],
    ) -> None:
        """`quarantined`: what is in quarantine, by source; the batch that has put it there."""
        self._spark = spark
        self._store = store
        self._folders = {one.source: one for one in folders}
        self._is_gone = is_gone
        self._quarantined = quarantined
        self._lost: dict[str, Problem] = {}
        """What was removed, or changed, before it could be read."""
        self._batch = store.begin()

    def ingest(self) -> IngestSummary:
        """Read the folders, append their facts, and commit the runs of those that are fit.

        Of several that have the same run the one that was judged last counts; where that isn't fit, the others are
        ingested without it.
        """
        while True:
            try:
                summary, rest = self._ingest()
            except AnalysisException as error:
                # Spark plans to read all files, or none.
                if error.getCondition() != "PATH_NOT_FOUND" or not self._part_with_the_lost():
                    raise
            else:
                break
        if rest:
            summary += Portion(self._spark, self._store, rest, self._is_gone, self._quarantined).ingest()
        return summary

    def _part_with_the_lost(self) -> bool:
        """Go on without folders that are no longer as they were listed; whether there are any."""
        lost = self._not_as_listed()
        self._lost |= lost
        self._folders = {source: one for source, one in self._folders.items() if source not in lost}
        self._batch = self._store.begin()
        return bool(lost)

    def _ingest(self) -> tuple[IngestSummary, list[Folder]]:
        """What was done, and the folders that are to be ingested now."""
        with staging(self._spark, self._store, self._batch) as place:
            found = self._with_moved(place.keep("documents", self._documents()))
            keys = found.where("run IS NOT NULL AND counts").select("place", "run_key", "run", "batch")
            lines = place.keep(
                "events", staged(event_lines(self._spark, self._listed), keys), HARDLY_REPEATED
            )
            few = place.keep("story", story(lines))
            added = place.keep("totals", totals(lines))
            whole = place.keep("histories", soundness.of_histories(added))
            sound = (
                whole.where("in_order AND broken_events = 0 AND ends > 0")
                .join(keys, "run_key")
                .select("run_key", "run", "batch", "first_ns")
            )
            told, timed = history(few, sound), in_time(added, sound)
            self._append_by_history(history(lines, sound), told, timed, keys)
            sums = soundness.of_messages(self._own_messages(), added, few)
            seen = self._seen(place, found, whole, sums)
            rows = {row.source: row for row in seen.select(*NUMBERS).collect()}
            problems = self._problems(rows)
            fit = [row.run_key for source, row in rows.items() if source not in problems and row.counts]
            if fit:
                self._append_by_documents(
                    seen.where(fn.col("counts") & fn.col("run_key").isin(fit)), told, timed
                )
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
        # Where a store was brought up to date it has no digest, and the same facts are to be made again.
        elsewhere = fn.expr(
            "stored_source <> source AND stored_judged_ms >= judged_ms AND stored_digest IS NOT NULL"
        )
        return (
            own.withColumn("first", (fn.row_number().over(latest) == 1) | fn.col("run").isNull())
            .join(stored, "run", "left")
            .withColumn("counts", fn.col("first") & ~fn.coalesce(elsewhere, fn.lit(False)))
            .withColumn("batch", fn.lit(self._batch))
            .withColumn("run_key", fn.xxhash64("run", "batch"))
        )

    def _with_moved(self, found: DataFrame) -> DataFrame:
        """A folder that has the run as the store has it counts, where that folder isn't there any more."""
        same = found.where("first AND NOT counts AND stored_judged_ms = judged_ms")
        sources = [row.stored_source for row in same.select("stored_source").distinct().collect()]
        left = [one for one in sources if self._is_gone(one)]
        moved = fn.col("first") & fn.col("stored_source").isin(left) & fn.expr("stored_judged_ms = judged_ms")
        return found.withColumn("counts", fn.col("counts") | fn.coalesce(moved, fn.lit(False)))

    def _append_by_history(
        self, events: DataFrame, told: DataFrame, timed: DataFrame, keys: DataFrame
    ) -> None:
        """Append what histories and messages tell of, and of runs that turn out not to be fit too: nobody sees it.

        All at once: of the smaller tables most of the time goes into planning, compiling and committing, while
        the messages, which begin first, keep all cores busy.
        """
        facts = (
            (MESSAGES, partial(self._messages, events, told, keys)),
            (TIMINGS, partial(timings, told, timed)),
            (SUBSCRIPTIONS, partial(subscriptions, told)),
            (OWNERSHIP, partial(ownership, told)),
            (OFFSETS, partial(offsets, told)),
            (FAULTS, partial(faults, told)),
        )
        self._store.append_all(facts)

    def _messages(self, events: DataFrame, told: DataFrame, keys: DataFrame) -> DataFrame:
        size = sum(one.files["messages.jsonl"].size for one in self._listed if "messages.jsonl" in one.files)
        partitions = max(self._spark.sparkContext.defaultParallelism, size // _BYTES_EACH + 1)
        lines = message_lines(self._spark, self._listed)
        return messages(lines, keys, witnesses(events, told, partitions), partitions)

    def _own_messages(self) -> DataFrame:
        return self._store.read(MESSAGES).where(fn.col("batch") == self._batch)

    def _append_by_documents(self, fit: DataFrame, told: DataFrame, timed: DataFrame) -> None:
        facts = (
            (CONDITIONS, partial(conditions, fit, told, timed)),
            (FINDINGS, lambda: findings(fit, told, log_findings(self._spark, fit))),
            (CHECKS, partial(checks, fit)),
        )
        self._store.append_all(facts)

    def _seen(self, place: Staging, found: DataFrame, whole: DataFrame, sums: DataFrame) -> DataFrame:
        """Everything that is known of each folder: its documents, and what its files add up to."""
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
        problems |= self._not_as_listed()
        return {source: lines.located(source, one) for source, one in problems.items()} | self._lost

    def _not_as_listed(self) -> dict[str, Problem]:
        """Source: what has happened to it since it was listed."""
        now = again(self._spark, self._listed)
        return {
            source: changed() if source in now else gone()
            for source, folder in self._folders.items()
            # Of one that can't be listed its files may be seen all the same.
            if now.get(source) != folder.listing and not (folder.problem and source in now)
        }

    def _commit(
        self, seen: DataFrame, rows: Mapping[str, Row], problems: Mapping[str, Problem]
    ) -> tuple[IngestSummary, list[Folder]]:
        fit = {source: row for source, row in rows.items() if source not in problems}
        new = {source: row for source, row in fit.items() if row.counts and row.digest != row.stored_digest}
        winners = {row.run: source for source, row in fit.items() if row.counts}
        beaten = {row.run for source, row in rows.items() if row.counts and source in problems}
        others = {source: row for source, row in fit.items() if not row.counts}
        rest = [self._folders[source] for source, row in others.items() if row.run in beaten]
        copies = {
            source: copy_of(winners.get(row.run, row.stored_source))
            for source, row in others.items()
            if row.run not in beaten
        }
        self._quarantine(rows, problems)
        committed = {source: row.run_key for source, row in fit.items() if row.counts}
        if committed:
            keys = list(committed.values())
            self._store.commit(runs(seen.where(fn.col("counts") & fn.col("run_key").isin(keys))))
            # By what clocks say it might have been found broken only after this.
            self._store.release(
                {source: batch for source, batch in self._quarantined.items() if source in committed}
            )
        # Only now: where this is broken off before, no copy is passed over for a run that isn't there.
        self._quarantine(rows, copies)
        replaced = sum(row.stored_digest is not None for row in new.values())
        summary = IngestSummary(
            ingested=len(new) - replaced,
            replaced=replaced,
            unchanged=len(fit) - len(new) - len(rest),
            quarantined=dict(sorted(Counter(one.kind for one in problems.values()).items())),
            messages=sum(row.message_count or 0 for row in new.values()),
        )
        return summary, rest

    def _quarantine(self, rows: Mapping[str, Row], problems: Mapping[str, Problem]) -> None:
        if not problems:
            return
        found, nothing = datetime.now(UTC), Row(digest=None, run=None, scenario=None)
        self._store.quarantine(
            self._spark.createDataFrame(
                [
                    (
                        source,
                        platform.node() if is_local(source) else None,
                        (row := rows.get(source, nothing)).digest,
                        None if one.passing or source in self._lost else self._folders[source].listing,
                        row.run,
                        row.scenario,
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
