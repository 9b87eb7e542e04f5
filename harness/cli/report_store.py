"""`rocketchaos report ingest`, `export`, `tidy`, `migrate`, `package`: what fills and keeps a store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocketchaos.harness.cli.report_options import (
    MasterOption,
    StoreOption,
    open_store,
    spark_for,
    spark_to_ingest,
)
from rocketchaos.harness.cli.terminal import OUT, Progress
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.core.text import counted

if TYPE_CHECKING:
    from rocketchaos.spark_reports.ingest.summary import IngestSummary

_MOST_DAYS = 36_500


class FileFormat(StrEnum):
    """Of exported tables."""

    PARQUET = "parquet"
    CSV = "csv"


def ingest(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUNS...", help="Run folders, or folders that contain some.")
    ],
    store: StoreOption,
    master: MasterOption = None,
) -> ExitCode:
    """Read run folders into a store. Create the store if it doesn't exist.

    An unchanged folder is skipped. A folder that was judged again replaces its rows. Broken folders are
    quarantined, with the reason, and counted in every report.
    """
    with spark_to_ingest(runs, store, master) as (spark, progress):
        from rocketchaos.spark_reports.ingest.ingest import ingest as ingest_runs
        from rocketchaos.spark_reports.store import Store

        done = ingest_runs(spark, Store.create(spark, store, progress), runs, progress)
    for line in lines_of(done):
        OUT.print(line)
    return ExitCode.AS_EXPECTED


def lines_of(done: IngestSummary) -> Iterator[str]:
    """What an ingest did, as the command prints it."""
    again = f"{done.replaced} judged again, {done.unchanged} unchanged"
    yield (
        f"{counted(done.seen, 'run folder')}: {done.ingested} new, {again}, "
        f"{sum(done.quarantined.values())} in quarantine"
    )
    for kind, folders in done.quarantined.items():
        yield f"  {kind}: {folders}"
    if done.released:
        left = counted(done.released, "folder")
        yield f"{left} left the quarantine: {'it was' if done.released == 1 else 'they were'} deleted"
    if done.aged:
        yield f"{done.aged} skipped: older than what the store keeps"
    yield f"{counted(done.messages, 'message')} in {done.seconds:.1f} s"


def export(
    store: StoreOption,
    out: Annotated[str, typer.Option("--out", metavar="URI", help="An empty folder.")],
    form: Annotated[
        FileFormat, typer.Option("--format", help="The format of the files.")
    ] = FileFormat.PARQUET,
    master: MasterOption = None,
) -> ExitCode:
    """Write the tables as plain files, for tools that know nothing of Delta."""
    with open_store(store, master, out) as (found, progress):
        from rocketchaos.spark_reports.export import Format
        from rocketchaos.spark_reports.export import export as export_tables

        found.register()
        names = export_tables(found.spark, out, Format(form), progress)
    OUT.print(f"{len(names)} tables in {out}: {', '.join(names)}")
    return ExitCode.AS_EXPECTED


def tidy(
    store: StoreOption,
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep",
            metavar="DAYS",
            help="Remove older runs, as with 400d. Later ingests skip their folders. Default: all are kept.",
        ),
    ] = None,
    master: MasterOption = None,
) -> ExitCode:
    """Remove rows that no report reads: of aborted ingests, and of older judgements. Merge small files."""
    kept = None if keep is None else _days(keep)
    with open_store(store, master) as (found, progress):
        from rocketchaos.spark_reports.tidy import tidy as tidy_store

        done = tidy_store(found, progress, keep=kept)
    if found.kept_since is not None:
        since = f"{found.kept_since:%Y-%m-%d %H:%M} UTC"
        OUT.print(f"{counted(done.runs, 'run')} from before {since} removed; later ingests skip these runs")
    OUT.print(
        f"{done.facts} outdated facts removed; {done.folders} folders left the quarantine, ingested "
        f"since; {done.files} small files became {done.files_now}"
    )
    return ExitCode.AS_EXPECTED


def _days(text: str) -> timedelta:
    number = re.fullmatch(r"([0-9]{1,9})d", text)
    if number is None or not 1 <= int(number[1]) <= _MOST_DAYS:
        raise UsageProblem(f"--keep takes days, 1d to {_MOST_DAYS}d, not `{text}`", "As in --keep 400d.")
    return timedelta(days=int(number[1]))


def migrate(store: StoreOption, master: MasterOption = None) -> ExitCode:
    """Bring a store of an older version up to date."""
    with spark_for(master, [store]) as (spark, progress):
        from rocketchaos.spark_reports.migrations import leaves_gaps
        from rocketchaos.spark_reports.migrations import migrate as migrate_store
        from rocketchaos.spark_reports.tables import STORE_VERSION

        had = migrate_store(spark, store, progress)
    gaps = "; ingest its runs again to fill the gaps" if leaves_gaps(had) else ""
    OUT.print(
        f"{store} has version {STORE_VERSION} already"
        if had == STORE_VERSION
        else f"{store} had version {had}, and has {STORE_VERSION} now{gaps}"
    )
    return ExitCode.AS_EXPECTED


def package(
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE.zip", help="Where the zip goes, with two more files.")
    ] = Path("rocketchaos-spark.zip"),
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="URI",
            help="Also name the jars that this store needs. Default: a store that needs none.",
        ),
    ] = None,
) -> ExitCode:
    """Make a zip for `spark-submit --py-files`, and the script to submit."""
    from rocketchaos.spark_reports import requirements

    requirements.require_packages()
    from rocketchaos.spark_reports.package import make_package

    with Progress() as progress:
        made = make_package(out, progress, store)
    OUT.print(f"{made.zip}\n{made.script}\n{made.logging}\n\nOn any master:\n  {made.command}")
    return ExitCode.AS_EXPECTED
