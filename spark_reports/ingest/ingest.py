"""Run folders become facts of a store: the work of `rocketchaos report ingest`."""

from __future__ import annotations

import platform
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as fn

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.spark_reports.driver import driver_of
from rocketchaos.spark_reports.ingest.folder_list import (
    Folder,
    is_gone,
    is_local,
    local_path,
    run_folders,
)
from rocketchaos.spark_reports.ingest.portion import Portion
from rocketchaos.spark_reports.ingest.reading import reading
from rocketchaos.spark_reports.ingest.summary import IngestSummary
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.store_views import problems
from rocketchaos.spark_reports.tables import AGED, COPY, QUARANTINE, RUNS

MOST_FOLDERS = 5_000
"""The runs of one portion, whose data is held in memory."""
MOST_BYTES = 8 * 2**30
"""Of one portion: about as much is on disk while it is made into facts."""


def ingest(
    spark: SparkSession, store: Store, runs: Sequence[str], progress: Callable[[str], None]
) -> IngestSummary:
    """Bring the runs of these places into the store.

    Folders that are listed as they were before are not read. The others go in portions, each a transaction: a
    crash loses the portion under way, which no report sees, and the next ingest does it again.

    Args:
        spark: a session.
        store: where the facts go.
        runs: run folders, folders above them, globs, or URIs that Spark reaches.
        progress: called with a few words for each part of the work.

    Raises:
        UsageProblem: there is no such place, or it has no run folders.
        EnvironmentNotReady: the store can't be written, or Spark doesn't see the folders.
    """
    begun = time.monotonic()
    store.begin_ingest()
    progress("looking for run folders")
    folders = run_folders(spark, runs)
    _require_seen(spark, folders)
    listed = {item.source for item in folders}

    def gone(source: str) -> bool:
        return is_gone(source, listed, runs)

    new, quarantined, summary = _to_be_read(store, folders, gone)
    done = 0
    with reading(spark):
        for portion in portions(new):
            progress(f"ingesting run folders {done + 1} to {done + len(portion)} of {len(new)}")
            summary += Portion(spark, store, portion, gone, quarantined).ingest()
            done += len(portion)
    return replace(summary, seconds=round(time.monotonic() - begun, 3))


def _require_seen(spark: SparkSession, folders: Sequence[Folder]) -> None:
    """Make sure that Spark sees what this machine lists, of which one file tells enough."""
    files = (
        local_path(item.source) / name for item in folders if is_local(item.source) for name in item.files
    )
    file = next(files, None)
    if file is not None and not driver_of(spark).sees(file):
        raise EnvironmentNotReady(
            f"Spark doesn't see the run folders of this machine, as {file.parent}",
            "Put them where both reach, as on s3a:// or hdfs://, or ingest them with another --master.",
        )


def _to_be_read(
    store: Store, folders: Sequence[Folder], gone: Callable[[str], bool]
) -> tuple[list[Folder], Mapping[str, str | None], IngestSummary]:
    """The folders that are not known as they are listed; what is in quarantine; what the store has of the others.

    Where known ones went is noted: a run may be in another folder now. What is gone, or is listed as a run that
    the store knows, leaves the quarantine; for what is in it, the report names the batch that put it there, by
    source. For that, four columns of all runs of the store are in memory: about 65 MB for 100,000 runs.
    """
    stored = {
        row.run: row
        for row in store.read(RUNS)
        .select("run", "listing", "source", fn.unix_millis("judged").alias("judged_ms"))
        .collect()
    }
    known = {row.listing: row.source for row in stored.values()}
    here = {item.source: item for item in folders}
    moved = [
        item
        for item in folders
        if known.get(item.listing, item.source) != item.source and gone(known[item.listing])
    ]
    store.move({item.listing: item.source for item in moved})
    rows = store.read(QUARANTINE).select("source", "listing", "host", "kind", "run", "batch").collect()
    # A disk of another machine can't be seen from here.
    quarantined = {row.source: row.batch for row in rows if row.host in (None, platform.node())}
    left = {source for source in quarantined if gone(source)}
    # It was put back, or another ingest was faster: it isn't read, so that nothing else would release it.
    sound = {source for source in quarantined if source in here and here[source].listing in known}
    store.release({source: quarantined[source] for source in left | sound})
    judged = {
        (row.source, row.listing)
        for row in rows
        if row.source in here and not _is_heir(row, here[row.source], stored.get(row.run), gone)
    }
    bad = _problems(store) if judged else {}
    old = {row.source for row in rows if row.kind == AGED}
    new, still_bad, still_old = [], Counter[str](), 0
    for item in folders:
        if item.listing in known:
            continue
        if (item.source, item.listing) not in judged:
            new.append(item)
        elif item.source in bad:
            still_bad[bad[item.source]] += 1
        else:
            still_old += item.source in old
    return (
        new,
        quarantined,
        IngestSummary(
            seen=len(folders),
            unchanged=len(folders) - len(new) - still_bad.total() - still_old,
            aged=still_old,
            quarantined=dict(sorted(still_bad.items())),
            released=len(left),
        ),
    )


def _problems(store: Store) -> Mapping[str, str]:
    """Source: kind of problem."""
    present = problems(store.read(RUNS), store.read(QUARANTINE)).select("source", "kind")
    return {row.source: row.kind for row in present.collect()}


def _is_heir(row: Row, folder: Folder, stored: Row | None, gone: Callable[[str], bool]) -> bool:
    """Whether it is a copy of a run that has no folder any more, or that the store lacks: it is read again."""
    if row.kind != COPY:
        return False
    return stored is None or (stored.judged_ms == folder.judged_ms and gone(stored.source))


def portions(
    folders: Sequence[Folder], most_folders: int = MOST_FOLDERS, most_bytes: int = MOST_BYTES
) -> Iterator[list[Folder]]:
    """The folders in their order, in portions. A folder larger than a portion is a portion of its own."""
    portion: list[Folder] = []
    size = 0
    for folder in folders:
        if portion and (len(portion) == most_folders or size + folder.size > most_bytes):
            yield portion
            portion, size = [], 0
        portion.append(folder)
        size += folder.size
    if portion:
        yield portion
