"""`rocketchaos report flakiness`, `diff`, ...: pages and texts over many runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocketchaos.harness.cli.report_options import (
    Engine,
    EngineOption,
    Form,
    FormOption,
    MasterOption,
    OutOption,
    RunsUrlOption,
    StoreOption,
    read_store,
    spark_to_ingest,
)
from rocketchaos.harness.cli.report_store import lines_of
from rocketchaos.harness.cli.terminal import OUT, Progress
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.core.text import counted

if TYPE_CHECKING:
    from rocketchaos.spark_reports.duck_store import DuckStore
    from rocketchaos.spark_reports.ingest.summary import IngestSummary
    from rocketchaos.spark_reports.render.files import Written
    from rocketchaos.spark_reports.render.links import RunsUrl
    from rocketchaos.spark_reports.report import Report, StoreSummary
    from rocketchaos.spark_reports.store import Store

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


def _report(name: str, says: str) -> Callable[..., ExitCode]:
    """The command that makes one report over the whole store."""

    def command(
        store: StoreOption,
        out: OutOption,
        form: FormOption = Form.TEXT,
        runs_url: RunsUrlOption = None,
        master: MasterOption = None,
        engine: EngineOption = Engine.SPARK,
    ) -> ExitCode:
        folder, url = _folder(out), _runs_url(runs_url)
        with read_store(store, master, engine) as (found, progress):
            [(report, written)] = _written(found, _summary(found, store), [name], folder, progress, url)
        _shown(report, form, written.page, url)
        return ExitCode.AS_EXPECTED

    command.__doc__ = says
    return command


flakiness = _report(
    "flakiness",
    "How certain outcomes are: PASS, FLAKY, FAIL, with intervals, trends, and causes of failure.",
)
divergence = _report(
    "divergence", "Where clients, versions, clusters and witnesses differ, and by how many messages."
)
timing = _report(
    "timing",
    "How long rebalances, flips, corrections of offsets and deliveries take, against RocketMQ's timers.",
)


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
    engine: EngineOption = Engine.SPARK,
) -> ExitCode:
    """What is new: cells that became flaky, failing or sound, causes, claims, times. 1: something is worse.

    The exit code is 0 if nothing is worse, 1 if a cell or a claim is worse beyond chance, 3 if the runs are too
    few to decide, or nothing can be compared.
    """
    from rocketchaos.spark_reports import requirements

    requirements.require_packages(reports=True)
    from rocketchaos.spark_reports.diff import sides as naming

    if since is not None and between is not None:
        raise UsageProblem("--since and --between exclude each other", "Give one of them.")
    sides = naming.between(*between) if between is not None else naming.since(since or naming.LAST)
    folder = None if out is None else _folder(out)
    url = _runs_url(runs_url)
    with read_store(store, master, engine) as (found, progress):
        from rocketchaos.spark_reports.diff import diff_between
        from rocketchaos.spark_reports.render.files import write
        from rocketchaos.spark_reports.render.text import one_sentence

        summary = _summary(found, store)
        progress("comparing")
        report, verdict = diff_between(found.session, summary, sides)
        page = None
        if folder is not None:
            written = write(report, folder, url)
            page = written.page
    if line:
        OUT.print(one_sentence(report, form is Form.MD, url))
    else:
        _shown(report, form, page, url)
    return {
        "worse": ExitCode.NOT_AS_EXPECTED,
        "perhaps worse": ExitCode.INCONCLUSIVE,
        "nothing compared": ExitCode.INCONCLUSIVE,
        "not worse": ExitCode.AS_EXPECTED,
    }[verdict]


def all_reports(
    store: StoreOption,
    out: OutOption,
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUNS...]", help="Run folders to read into the store first, as `report ingest` does."
        ),
    ] = None,
    form: FormOption = Form.TEXT,
    runs_url: RunsUrlOption = None,
    master: MasterOption = None,
    engine: EngineOption = Engine.SPARK,
) -> ExitCode:
    """Every report, in one Spark: what is new, flakiness, divergence, timing."""
    folder, url = _folder(out), _runs_url(runs_url)
    if runs and engine is not Engine.SPARK:
        raise UsageProblem("only Spark reads runs into a store", "Leave out RUNS, or --engine duckdb.")
    with _filled(runs or [], store, master, engine) as (found, progress, done):
        from rocketchaos.spark_reports.report_kinds import REPORTS

        made = _written(found, _summary(found, store), REPORTS, folder, progress, url)
    for line in lines_of(done) if done is not None else ():
        OUT.print(f"- {line.strip()}" if form is Form.MD else line)
    from rocketchaos.spark_reports.render.text import one_sentence

    for report, written in made:
        sentence = one_sentence(report, form is Form.MD, url)
        if form is Form.MD:
            OUT.print(f"- **{report.title}**: {sentence} Page: `{written.page}`")
        else:
            OUT.print(f"{report.title}: {sentence}\nPage: {written.page}\n")
    return ExitCode.AS_EXPECTED


@contextmanager
def _filled(
    runs: Sequence[str], store: str, master: str | None, engine: Engine = Engine.SPARK
) -> Iterator[tuple[Store | DuckStore, Progress, IngestSummary | None]]:
    """A store with these runs, and what their ingest did; without runs it must be there already."""
    if not runs:
        with read_store(store, master, engine) as (read, progress):
            yield read, progress, None
        return
    with spark_to_ingest(runs, store, master, reports=True) as (spark, progress):
        from rocketchaos.spark_reports.ingest.ingest import ingest
        from rocketchaos.spark_reports.store import Store

        found = Store.create(spark, store, progress)
        yield found, progress, ingest(spark, found, runs, progress)


def ingest_and_report(runs: Path, store: str, out: Path) -> list[Path]:
    """Read the runs below a folder into a store, and write every report over it, in one Spark; the pages.

    Raises:
        EnvironmentNotReady, UsageProblem: as the commands do.
    """
    with _filled([str(runs)], store, None) as (kept, progress, _done):
        from rocketchaos.spark_reports.report_kinds import REPORTS

        kept.register()
        summary = kept.summary()
        made = _written(kept, summary, REPORTS, out, progress) if summary.runs else []
        return [written.page for _, written in made]


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


def _summary(store: Store | DuckStore, uri: str) -> StoreSummary:
    """Of a store, which must have runs; its views are there from now on."""
    store.register()
    summary = store.summary()
    if not summary.runs:
        folders = f"{counted(summary.quarantined, 'folder')} {'is' if summary.quarantined == 1 else 'are'}"
        broken = f"; {folders} in quarantine" if summary.quarantined else ""
        raise UsageProblem(
            f"the store at {uri} has no runs{broken}",
            f"Ingest some: rocketchaos report ingest RUNS --store {uri}.",
        )
    return summary


def _shown(report: Report, form: Form, page: Path | None, url: RunsUrl | None) -> None:
    from rocketchaos.spark_reports.render.text import markdown, show

    if form is Form.MD:
        OUT.print(markdown(report, page, url).rstrip())
    else:
        show(report, OUT.rich, page, url)


def _written(
    store: Store | DuckStore,
    summary: StoreSummary,
    names: Iterable[str],
    folder: Path,
    progress: Progress,
    url: RunsUrl | None = None,
) -> list[tuple[Report, Written]]:
    """These reports, one after the other, with their files."""
    from rocketchaos.spark_reports.answers import Answers
    from rocketchaos.spark_reports.queries import queries_of

    answers, made = Answers(store.session), []
    with answers.asked_ahead(queries_of(names)):
        # Only here: the engine is at work while they load.
        from rocketchaos.spark_reports.render.files import write
        from rocketchaos.spark_reports.report_kinds import REPORTS

        for name in names:
            progress(f"making the report {name}")
            report = REPORTS[name](answers, summary)
            made.append((report, write(report, folder, url)))
    return made
