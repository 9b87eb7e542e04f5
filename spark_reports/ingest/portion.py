"""Some thousand run folders at a time: from their files to one transaction of the store."""

from __future__ import annotations

import hashlib
import platform
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Row, SparkSession

from rocketchaos.harness.facts.folder_facts import FACTS, MADE_OF, MESSAGES
from rocketchaos.harness.facts.kinds import FACTS_VERSION, word_of
from rocketchaos.harness.facts.line_digest import EMPTY
from rocketchaos.spark_reports.ingest import table_rows
from rocketchaos.spark_reports.ingest.folder_list import Folder, again, is_local
from rocketchaos.spark_reports.ingest.made_anew import made_anew
from rocketchaos.spark_reports.ingest.quarantine import Problem, aged, changed, copy_of, gone
from rocketchaos.spark_reports.ingest.reading import digests, fact_lines, message_lines
from rocketchaos.spark_reports.ingest.staging import Staging, staging
from rocketchaos.spark_reports.ingest.summary import IngestSummary
from rocketchaos.spark_reports.local_rows import local_rows
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.store_views import EARLIEST
from rocketchaos.spark_reports.tables import FACTS as TABLES_OF_FACTS
from rocketchaos.spark_reports.tables import MESSAGES as OF_MESSAGES
from rocketchaos.spark_reports.tables import QUARANTINE


@dataclass(frozen=True, slots=True)
class Found:
    """A run folder, and the facts about it before the store has any of its rows."""

    folder: Folder
    run: str | None
    scenario: str | None
    digest: str
    """Of all that its facts are made of."""
    message_count: int
    started_ms: int | None
    """Unix time of its first event; None: there are no facts."""
    uri: str
    """Where its facts and messages are: its own, or of a folder that was made for it."""
    place: str | None
    """What Spark calls that, with a `/` behind; None: there are no facts."""
    problem: Problem | None = None
    """Why it isn't fit."""
    counts: bool = True
    """No other folder has the same run, judged later, here or in the store."""
    stored: Row | None = None
    """The run as the store has it: `source`, `digest`, `judged_ms`."""


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
        self._folders = {item.source: item for item in folders}
        self._is_gone = is_gone
        self._quarantined = quarantined
        self._lost: dict[str, Problem] = {}
        """Folders that were removed or changed before they could be read."""
        self._batch = store.begin()
        self._made_keys: tuple[object, DataFrame] | None = None
        """The newest result of `_keys`, and what it was made of."""

    def ingest(self) -> IngestSummary:
        """Read the folders, append their facts, and commit the runs of those that are fit.

        If several have the same run, the one judged last counts; where that isn't fit, the others are
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
        self._folders = {source: item for source, item in self._folders.items() if source not in lost}
        self._batch = self._store.begin()
        return bool(lost)

    def _ingest(self) -> tuple[IngestSummary, list[Folder]]:
        """The result so far, and the folders to ingest now."""
        with staging(self._spark, self._store, self._batch) as place:
            lines, found = self._look(place)
            old = {source: item for source, item in found.items() if self._is_aged(item)}
            self._quarantine(old, dict.fromkeys(old, aged()))
            found = self._with_counts({source: item for source, item in found.items() if source not in old})
            fit = [item for item in found.values() if item.counts and item.problem is None]
            if fit:
                self._append(lines, self._keys(fit), fit)
            lost = self._not_as_listed()
            now = {
                source: replace(item, problem=lost.get(source, item.problem))
                for source, item in found.items()
            }
            summary, rest = self._commit(lines, now)
            return replace(summary, aged=len(old)), rest

    def _look(self, place: Staging) -> tuple[DataFrame, dict[str, Found]]:
        """The lines of all facts, and a `Found` for each folder. It makes the facts of folders that have none."""
        sealed = [f"{source}/{FACTS}" for source, item in self._folders.items() if FACTS in item.files]
        lines = self._kept(place, "facts", sealed)
        found = self._sealed(lines) if sealed else {}
        others = [item for source, item in self._folders.items() if source not in found]
        if not others:
            return lines, found
        with place.filling("anew") as target:
            made = made_anew(self._spark, others, target)
        uris = {item.source: f"{place.uri}/anew/{item.name}" for item in made}
        paths = [f"{uris[item.source]}/{FACTS}" for item in made if item.problem is None]
        anew = self._kept(place, "facts-anew", paths)
        at = {row.source: row for row in table_rows.seals(anew)}
        for item in made:
            uri = uris[item.source]
            digest = _digest(item.files)
            found[item.source] = Found(
                self._folders[item.source],
                item.run,
                item.scenario,
                digest,
                item.message_count,
                at[uri].started_wall_ms if uri in at else None,
                uri=uri,
                place=at[uri].place if uri in at else None,
                problem=item.problem,
            )
        return lines.unionByName(anew) if sealed else anew, found

    def _kept(self, place: Staging, name: str, paths: Sequence[str]) -> DataFrame:
        """The lines of these files, written once; without files nothing is written."""
        lines = fact_lines(self._spark, paths)
        return place.keep(name, lines) if paths else lines

    def _sealed(self, lines: DataFrame) -> dict[str, Found]:
        """The folders whose facts are of this version, and of the files as they are."""
        seals = {
            row.source: row
            for row in table_rows.seals(lines)
            if row.source in self._folders and row.facts_version == FACTS_VERSION
        }
        paths = [f"{source}/{name}" for source in seals for name in self._folders[source].files]
        seen = digests(self._spark, paths)
        return {
            source: Found(
                self._folders[source],
                row.run,
                row.scenario,
                _digest(row.files),
                row.message_count,
                row.started_wall_ms,
                uri=source,
                place=row.place,
            )
            for source, row in seals.items()
            if all(seen.get((source, name), EMPTY) == row.files.get(name) for name in (*MADE_OF, FACTS))
            and row.run is not None
        }

    def _is_aged(self, item: Found) -> bool:
        """Whether it is older than what the store keeps; by a clock that can't be right, nothing is."""
        since = self._store.kept_since
        if since is None or item.problem is not None or item.started_ms is None:
            return False
        return EARLIEST.timestamp() * 1000 <= item.started_ms < since.timestamp() * 1000

    def _with_counts(self, found: Mapping[str, Found]) -> dict[str, Found]:
        """If several folders have the same run, the one judged last counts, unless the store's is later.

        Where that isn't there any more, a copy that was judged alike takes its place.
        """
        by_run: dict[str, list[Found]] = defaultdict(list)
        for item in found.values():
            if item.run is not None:
                by_run[item.run].append(item)
        stored = table_rows.stored(self._store, by_run)
        counted = dict(found)
        for run, same in by_run.items():
            same.sort(key=lambda item: (-item.folder.judged_ms, item.folder.source))
            old = stored.get(run)
            for item in same:
                # What doesn't count is no problem, whatever is wrong with it.
                counts = item is same[0] and not (old is not None and self._is_beaten(item, old))
                counted[item.folder.source] = replace(
                    item, counts=counts, problem=item.problem if counts else None, stored=old
                )
        return counted

    def _is_beaten(self, item: Found, old: Row) -> bool:
        # Where a store was brought up to date it has no digest, and the same facts are to be made again.
        if old.source == item.folder.source or old.digest is None or old.judged_ms is None:
            return False
        if old.judged_ms == item.folder.judged_ms:
            return not self._is_gone(old.source)
        return bool(old.judged_ms > item.folder.judged_ms)

    def _append(self, lines: DataFrame, keys: DataFrame, fit: Sequence[Found]) -> None:
        """Append facts; no report sees them before the commit.

        All at once: of the smaller tables most of the time goes into planning and committing, while the messages,
        which begin first, keep all cores busy. Tables without new rows are left alone.
        """
        paths = [f"{item.uri}/{MESSAGES}" for item in fit]
        of_messages = (OF_MESSAGES, lambda: table_rows.messages(message_lines(self._spark, paths), keys))
        there = table_rows.kinds(lines)
        others = [
            (table, partial(table_rows.of_table, lines, keys, table))
            for table in TABLES_OF_FACTS
            if table.kind is not None and word_of(table.kind) in there
        ]
        self._store.append_all([of_messages, *others])

    def _keys(self, fit: Sequence[Found]) -> DataFrame:
        """The keys of these folders: for the commit mostly those of before."""
        listed = [
            (
                item.place,
                item.run,
                self._batch,
                item.folder.source,
                item.folder.listing,
                item.digest,
                item.folder.judged_ms,
            )
            for item in fit
        ]
        if self._made_keys is None or self._made_keys[0] != listed:
            self._made_keys = listed, table_rows.keys(self._spark, listed)
        return self._made_keys[1]

    def _not_as_listed(self) -> dict[str, Problem]:
        """By source: its change since it was listed."""
        now = again(self._spark, list(self._folders.values()))
        return {
            source: changed() if source in now else gone()
            for source, folder in self._folders.items()
            # Of one that can't be listed its files may be seen all the same.
            if now.get(source) != folder.listing and not (folder.problem and source in now)
        }

    def _commit(self, lines: DataFrame, found: Mapping[str, Found]) -> tuple[IngestSummary, list[Folder]]:
        fit = [item for item in found.values() if item.problem is None]
        winners = {item.run: item for item in fit if item.counts}
        new = [item for item in winners.values() if item.stored is None or item.digest != item.stored.digest]
        beaten = {item.run for item in found.values() if item.counts and item.problem is not None}
        others = [item for item in fit if not item.counts]
        rest = [item.folder for item in others if item.run in beaten]
        copies = {
            item.folder.source: copy_of(
                winners[item.run].folder.source
                if item.run in winners
                else str(item.stored and item.stored.source)
            )
            for item in others
            if item.run not in beaten
        }
        problems = {source: item.problem for source, item in found.items() if item.problem is not None}
        problems |= self._lost
        self._quarantine(found, problems)
        if winners:
            self._store.commit(table_rows.runs(lines, self._keys(list(winners.values()))))
            # By what clocks say it might have been found broken only after this.
            committed = {item.folder.source for item in winners.values()}
            self._store.release(
                {source: batch for source, batch in self._quarantined.items() if source in committed}
            )
        # Only now: where this is broken off before, no copy is skipped for a run that isn't there.
        self._quarantine(found, copies)
        replaced = sum(item.stored is not None and item.stored.digest is not None for item in new)
        summary = IngestSummary(
            ingested=len(new) - replaced,
            replaced=replaced,
            unchanged=len(fit) - len(new) - len(rest),
            quarantined=dict(sorted(Counter(item.kind for item in problems.values()).items())),
            messages=sum(item.message_count for item in new),
        )
        return summary, rest

    def _quarantine(self, found: Mapping[str, Found], problems: Mapping[str, Problem]) -> None:
        if not problems:
            return
        now = datetime.now(UTC)
        quarantined = []
        for source, problem in problems.items():
            item = found.get(source)
            quarantined.append(
                (
                    source,
                    platform.node() if is_local(source) else None,
                    item and item.digest,
                    None if item is None or problem.passing else item.folder.listing,
                    item and item.run,
                    item and item.scenario,
                    problem.kind,
                    problem.file,
                    problem.line,
                    problem.reason,
                    self._batch,
                    now,
                )
            )
        self._store.quarantine(local_rows(self._spark, quarantined, QUARANTINE.schema))


def _digest(files: Mapping[str, str]) -> str:
    """Of everything that a folder's facts are made of."""
    parts = "\n".join(files.get(name, "") for name in MADE_OF)
    return hashlib.sha256(parts.encode()).hexdigest()
