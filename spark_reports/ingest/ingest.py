"""Run folders become facts of a store: what `rocketchaos report ingest` does."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pyspark.sql import SparkSession

from spark_reports.ingest.listing import Folder, run_folders
from spark_reports.ingest.portion import Portion
from spark_reports.ingest.reading import reading
from spark_reports.ingest.summary import IngestSummary
from spark_reports.store import Store
from spark_reports.tables import QUARANTINE, RUNS

MOST_FOLDERS = 5_000
"""Of one portion: what is known of each is held in memory."""
MOST_BYTES = 8 * 2**30
"""Of one portion: about as much is on disk while it is made into facts."""


def ingest(
    spark: SparkSession, store: Store, runs: Sequence[str], progress: Callable[[str], None]
) -> IngestSummary:
    """Bring the runs of these places into the store.

    Folders that are listed as they were before are not read. The others go in portions, each a transaction: a
    crash loses the portion under way, of which nobody sees anything, and the next ingest does it again.

    Args:
        spark: a session.
        store: where the facts go.
        runs: run folders, folders above them, globs, or URIs that Spark reaches.
        progress: told in a few words what is being done.

    Raises:
        UsageProblem: there is no such place, or it has no run folders.
        EnvironmentNotReady: the store can't be written.
    """
    begun = time.monotonic()
    progress("looking for run folders")
    folders = run_folders(spark, runs)
    known = {row.listing for row in store.read(RUNS).select("listing").collect()}
    bad = {row.listing: row.kind for row in store.read(QUARANTINE).select("listing", "kind").collect()}
    new = [one for one in folders if one.listing not in known and one.listing not in bad]
    still_bad = Counter(
        bad[one.listing] for one in folders if one.listing in bad and one.listing not in known
    )
    summary = IngestSummary(
        seen=len(folders),
        unchanged=len(folders) - len(new) - still_bad.total(),
        quarantined=dict(sorted(still_bad.items())),
    )
    done = 0
    with reading(spark):
        for portion in portions(new):
            progress(f"ingesting run folders {done + 1} to {done + len(portion)} of {len(new)}")
            summary += Portion(spark, store, portion).ingest()
            done += len(portion)
    return replace(summary, seconds=round(time.monotonic() - begun, 3))


def portions(
    folders: Sequence[Folder], most_folders: int = MOST_FOLDERS, most_bytes: int = MOST_BYTES
) -> Iterator[list[Folder]]:
    """The folders in their order, so many at a time; one that is larger than all that comes alone."""
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
