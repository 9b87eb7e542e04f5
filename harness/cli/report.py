"""`rocketchaos report ...`: run folders of any number, turned into reports on Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocketchaos.harness.cli.ending import ending_in_a_code
from rocketchaos.harness.cli.terminal import OUT, Progress
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.core.text import counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from rocketchaos.spark_reports.render.files import Written
    from rocketchaos.spark_reports.render.links import RunsUrl
    from rocketchaos.spark_reports.report import Report, StoreSummary
    from rocketchaos.spark_reports.store import Store


_MOST_DAYS = 36_500


class Form(StrEnum):
    """Of the short text."""

    TEXT = "text"
    MD = "md"


class FileFormat(StrEnum):
    """Of exported tables."""

    PARQUET = "parquet"
    CSV = "csv"


StoreOption = Annotated[
    str, typer.Option("--store", metavar="URI", help="The store: a folder, or any URI that Spark can reach.")
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master", metavar="URL", help="Spark's master. Default: ROCKETCHAOS_SPARK_MASTER or local\\[*]."
    ),
]
OutOption = Annotated[str, typer.Option("--out", metavar="FOLDER", help="Where the page and tables go.")]
RunsUrlOption = Annotated[
    str | None,
    typer.Option(
        "--runs-url",
        metavar="TEMPLATE",
        help="Where run folders are served, for links to them, as https://ci.example.org/{parent}/{name}/. "
        "Default: where they were ingested.",
    ),
]
SinceOption = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="MOMENT",
        help="Compare runs since then with all before: LAST, the newest ingest; an age, 7d; a time. "
        "Default: LAST.",
    ),
]
BetweenOption = Annotated[
    tuple[str, str] | None,
    typer.Option("--between", metavar="A B", help="Compare two nights: days, or times FROM/TO, in UTC."),
]
FormOption = Annotated[
    Form, typer.Option("--format", help="The format of the short text on standard output.")
]


def ingest(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUNS...", help="Run folders, or folders that contain some.")
    ],
    store: StoreOption,
    master: MasterOption = None,
) -> ExitCode:
    """Read run folders into a store, which is made if there is none.

    The same folder again changes nothing; one that was judged again replaces what it was. Broken folders are
    quarantined, with the reason, and counted in every report.
    """
    with _spark(master, [store, *runs]) as (spark, progress):
        from rocketchaos.spark_reports.ingest.ingest import ingest as ingest_runs
        from rocketchaos.spark_reports.store import Store

        done = ingest_runs(spark, Store.create(spark, store, progress), runs, progress)
    again = f"{done.replaced} judged again, {done.unchanged} unchanged"
    OUT.print(
        f"{done.seen} run folders: {done.ingested} new, {again}, {sum(done.quarantined.values())} in quarantine"
    )
    for kind, folders in done.quarantined.items():
        OUT.print(f"  {kind}: {folders}", markup=False)
    if done.released:
        OUT.print(f"{done.released} folders left the quarantine: they were deleted", markup=False)
    if done.aged:
        OUT.print(f"{done.aged} skipped: older than what the store keeps", markup=False)
    OUT.print(f"{done.messages} messages in {done.seconds:.1f} s", markup=False)
    return ExitCode.AS_EXPECTED


def flakiness(
    store: StoreOption,
    out: OutOption,
    form: FormOption = Form.TEXT,
    runs_url: RunsUrlOption = None,
    master: MasterOption = None,
) -> ExitCode:
    """How certain outcomes are: PASS, FLAKY, FAIL, with intervals, trends, and causes of failure."""
    return _make("flakiness", store, out, form, runs_url, master)


def diff(
    store: StoreOption,
    since: SinceOption = None,
    between: BetweenOption = None,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="FOLDER", help="Where the page and tables go. Default: none are made."),
    ] = None,
    line: Annotated[bool, typer.Option("--line", help="Only one line, for a chat.")] = False,
    form: FormOption = Form.TEXT,
    runs_url: RunsUrlOption = None,
    master: MasterOption = None,
) -> ExitCode:
    """What is new: cells that became flaky, failing or sound, causes, claims, times. 1: something is worse.

    Ends in 0 if nothing is worse, and in 1 if a cell or a claim surely is. Ends in 3 if there are too few
    runs: something is worse in them, but not surely, or nothing can be compared.
    """
    from rocketchaos.spark_reports import requirements

    requirements.require_packages(reports=True)
    from rocketchaos.spark_reports.diff import sides as naming

    if since is not None and between is not None:
        raise UsageProblem("--since and --between exclude each other", "Give one of them.")
    sides = naming.between(*between) if between is not None else naming.since(since or naming.LAST)
    folder = None if out is None else _folder(out)
    url = _runs_url(runs_url)
    with _store(store, master, reports=True) as (found, progress):
        from rocketchaos.spark_reports.diff import diff_between
        from rocketchaos.spark_reports.render.files import write
        from rocketchaos.spark_reports.render.text import one_sentence

        summary = _summary(found, store)
        progress("comparing")
        report, verdict = diff_between(found.spark, summary, sides)
        page = None if folder is None else write(found.spark, report, folder, url).page
    if line:
        OUT.print(one_sentence(report, form is Form.MD, url), markup=False)
    else:
        _shown(report, form, page, url)
    return {
        "worse": ExitCode.NOT_AS_EXPECTED,
        "perhaps worse": ExitCode.INCONCLUSIVE,
        "nothing compared": ExitCode.INCONCLUSIVE,
        "not worse": ExitCode.AS_EXPECTED,
    }[verdict]


def divergence(
    store: StoreOption,
    out: OutOption,
    form: FormOption = Form.TEXT,
    runs_url: RunsUrlOption = None,
    master: MasterOption = None,
) -> ExitCode:
    """Where clients, versions, clusters and witnesses differ, and by how many messages."""
    return _make("divergence", store, out, form, runs_url, master)


def timing(
    store: StoreOption,
    out: OutOption,
    form: FormOption = Form.TEXT,
    runs_url: RunsUrlOption = None,
    master: MasterOption = None,
) -> ExitCode:
    """How long rebalances, flips, corrections of offsets and deliveries take, against RocketMQ's timers."""
    return _make("timing", store, out, form, runs_url, master)


def all_reports(
    store: StoreOption,
    out: OutOption,
    form: FormOption = Form.TEXT,
    runs_url: RunsUrlOption = None,
    master: MasterOption = None,
) -> ExitCode:
    """Every report, in one Spark: what is new, flakiness, divergence, timing."""
    folder, url = _folder(out), _runs_url(runs_url)
    with _store(store, master, reports=True) as (found, progress):
        made = _all_written(found, _summary(found, store), folder, progress, url)
    from rocketchaos.spark_reports.render.text import one_sentence

    for report, written in made:
        sentence = one_sentence(report, form is Form.MD, url)
        if form is Form.MD:
            OUT.print(f"- **{report.title}**: {sentence} Page: `{written.page}`", markup=False)
        else:
            OUT.print(f"{report.title}: {sentence}\nPage: {written.page}\n", markup=False)
    return ExitCode.AS_EXPECTED


def export(
    store: StoreOption,
    out: Annotated[str, typer.Option("--out", metavar="URI", help="An empty folder.")],
    form: Annotated[FileFormat, typer.Option("--format", help="Of the files.")] = FileFormat.PARQUET,
    master: MasterOption = None,
) -> ExitCode:
    """Write the tables as plain files, for tools that know nothing of Delta."""
    with _store(store, master, out) as (found, progress):
        from rocketchaos.spark_reports.export import Format
        from rocketchaos.spark_reports.export import export as export_tables

        found.register()
        names = export_tables(found.spark, out, Format(form), progress)
    OUT.print(f"{len(names)} tables in {out}: {', '.join(names)}", markup=False)
    return ExitCode.AS_EXPECTED


def tidy(
    store: StoreOption,
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep",
            metavar="DAYS",
            help="Remove older runs, as with 400d. Later ingests skip their folders. [default: all are kept]",
        ),
    ] = None,
    master: MasterOption = None,
) -> ExitCode:
    """Remove rows that no report reads: of aborted ingests, and of older judgements. Merge small files."""
    kept = None if keep is None else _days(keep)
    with _store(store, master) as (found, progress):
        from rocketchaos.spark_reports.tidy import tidy as tidy_store

        done = tidy_store(found, progress, keep=kept)
    if found.kept_since is not None:
        since = f"{found.kept_since:%Y-%m-%d %H:%M} UTC"
        OUT.print(
            f"{counted(done.runs, 'run')} of before {since} removed; ingests skip such runs",
            markup=False,
        )
    OUT.print(
        f"{done.facts} outdated facts removed; {done.folders} folders left the quarantine, ingested "
        f"since; {done.files} small files became {done.files_now}",
        markup=False,
    )
    return ExitCode.AS_EXPECTED


def _days(text: str) -> timedelta:
    number = text.removesuffix("d")
    if not (text.endswith("d") and number.isascii() and number.isdigit() and 1 <= int(number) <= _MOST_DAYS):
        raise UsageProblem(f"--keep takes days, at most {_MOST_DAYS}d, not `{text}`", "As in --keep 400d.")
    return timedelta(days=int(number))


def migrate(store: StoreOption, master: MasterOption = None) -> ExitCode:
    """Bring a store of an older version up to date."""
    with _spark(master, [store]) as (spark, progress):
        from rocketchaos.spark_reports.migrations import leaves_gaps
        from rocketchaos.spark_reports.migrations import migrate as migrate_store
        from rocketchaos.spark_reports.tables import STORE_VERSION

        had = migrate_store(spark, store, progress)
    gaps = "; ingest its runs again to fill the gaps" if leaves_gaps(had) else ""
    OUT.print(
        f"{store} has version {STORE_VERSION} already"
        if had == STORE_VERSION
        else f"{store} had version {had}, and has {STORE_VERSION} now{gaps}",
        markup=False,
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
            help="The store, whose jars are named, too. Default: one that needs none.",
        ),
    ] = None,
) -> ExitCode:
    """Make a zip for `spark-submit --py-files`, and the script to submit."""
    from rocketchaos.spark_reports import requirements

    requirements.require_packages()
    from rocketchaos.spark_reports.package import make_package

    with Progress() as progress:
        made = make_package(out, progress, store)
    OUT.print(f"{made.zip}\n{made.script}\n{made.logging}\n\nOn any master:\n  {made.command}", markup=False)
    return ExitCode.AS_EXPECTED


def ingest_and_report(runs: Path, store: str, out: Path) -> list[Path]:
    """Read the runs below a folder into a store, and write every report over it, in one Spark; the pages.

    Raises:
        EnvironmentNotReady, UsageProblem: as the commands do.
    """
    with _spark(None, [store], reports=True) as (spark, progress):
        from rocketchaos.spark_reports.ingest.ingest import ingest as ingest_runs
        from rocketchaos.spark_reports.store import Store

        kept = Store.create(spark, store, progress)
        ingest_runs(spark, kept, [str(runs)], progress)
        kept.register()
        summary = kept.summary()
        made = _all_written(kept, summary, out, progress) if summary.runs else []
        return [written.page for _, written in made]


COMMANDS: Mapping[str, Callable[..., ExitCode]] = {
    "ingest": ingest,
    "diff": diff,
    "flakiness": flakiness,
    "divergence": divergence,
    "timing": timing,
    "all": all_reports,
    "export": export,
    "tidy": tidy,
    "migrate": migrate,
    "package": package,
}
"""In the order of the help; a new one is registered here."""


def report_application() -> typer.Typer:
    """The commands below `rocketchaos report`."""
    app = typer.Typer(
        help="Reports over many runs, on Spark: how flaky, how different, how fast.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name, command in COMMANDS.items():
        app.command(name)(ending_in_a_code(command))
    return app


def _make(name: str, uri: str, out: str, form: Form, runs_url: str | None, master: str | None) -> ExitCode:
    folder, url = _folder(out), _runs_url(runs_url)
    with _store(uri, master, reports=True) as (store, progress):
        report, written = _written(store, _summary(store, uri), name, folder, progress, url)
    _shown(report, form, written.page, url)
    return ExitCode.AS_EXPECTED


def _folder(out: str) -> Path:
    from rocketchaos.spark_reports.places import Place

    folder = Place.of(out).folder
    if folder is None:
        raise UsageProblem(
            f"{out} is no folder of this machine; reports need a local one", "Give another --out."
        )
    return folder


def _runs_url(template: str | None) -> RunsUrl | None:
    from rocketchaos.spark_reports.render.links import RunsUrl

    return None if template is None else RunsUrl.of(template)


def _summary(store: Store, uri: str) -> StoreSummary:
    """Of a store, which must have runs; its views are there from now on."""
    store.register()
    summary = store.summary()
    if not summary.runs:
        broken = f"; {summary.quarantined} folders are in quarantine" if summary.quarantined else ""
        raise UsageProblem(
            f"the store at {uri} has no runs{broken}",
            f"Ingest some: rocketchaos report ingest RUNS --store {uri}.",
        )
    return summary


def _shown(report: Report, form: Form, page: Path | None, url: RunsUrl | None) -> None:
    from rocketchaos.spark_reports.render.text import markdown, show

    if form is Form.MD:
        OUT.print(markdown(report, page, url), markup=False, end="")
    else:
        show(report, OUT.rich, page, url)


def _written(
    store: Store,
    summary: StoreSummary,
    name: str,
    folder: Path,
    progress: Progress,
    url: RunsUrl | None = None,
) -> tuple[Report, Written]:
    from rocketchaos.spark_reports.render.files import write
    from rocketchaos.spark_reports.report_kinds import REPORTS

    progress(f"making the report {name}")
    report = REPORTS[name](store.spark, summary)
    progress("writing the report")
    return report, write(store.spark, report, folder, url)


def _all_written(
    store: Store, summary: StoreSummary, folder: Path, progress: Progress, url: RunsUrl | None = None
) -> list[tuple[Report, Written]]:
    """Every report, one after the other."""
    from rocketchaos.spark_reports.report_kinds import REPORTS

    return [_written(store, summary, name, folder, progress, url) for name in REPORTS]


@contextmanager
def _store(
    uri: str, master: str | None, *places: str, reports: bool = False
) -> Iterator[tuple[Store, Progress]]:
    """A store that is there, in a Spark that also reaches these places."""
    with _spark(master, [uri, *places], reports=reports) as (spark, progress):
        from rocketchaos.spark_reports.store import Store

        yield Store.open(spark, uri, progress), progress


@contextmanager
def _spark(
    master: str | None, places: Sequence[str], *, reports: bool = False
) -> Iterator[tuple[SparkSession, Progress]]:
    """A Spark for one command; its packages are looked for, and loaded, only here."""
    from rocketchaos.spark_reports import requirements

    requirements.require_packages(reports=reports)
    from rocketchaos.spark_reports.spark_session import spark_session

    with Progress() as progress, spark_session(master, progress, places) as spark:
        yield spark, progress
