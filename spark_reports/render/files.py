"""A report becomes files: a page, a document, a short text, and each table for machines.

=============================  ==========================================================
`<name>.html`                  the page, self-contained
`<name>.json`                  the same for machines, with all rows
`<name>.md`                    the short text, for a chat
`<name>/<table>.csv`           one file
`<name>/<table>.parquet/`      a folder with Parquet files
`<name>/<table>.delta/`        a Delta table
`<name>/<text>.txt`            a file for another command, as `flakiness/known.txt`
`methods.html`                 the statistical methods, to which all pages link
=============================  ==========================================================

All files are first written elsewhere, and then moved into place: if a report can't be written, the older one
stays whole.
"""

import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.spark_reports.render.document import document_text
from rocketchaos.spark_reports.render.links import RunsUrl
from rocketchaos.spark_reports.render.methods_page import html
from rocketchaos.spark_reports.render.page import page
from rocketchaos.spark_reports.render.tables import write_csv, write_parquet_and_delta
from rocketchaos.spark_reports.render.text import markdown
from rocketchaos.spark_reports.report import Report

METHODS_PAGE = "methods.html"
"""The page about the methods, as `spark_reports.render.methods_page` makes it."""


@dataclass(frozen=True, slots=True)
class Written:
    """The paths of the files of a report."""

    page: Path
    document: Path
    text: Path
    tables: Path
    """The folder of its tables."""


def write(report: Report, out: Path, url: RunsUrl | None = None) -> Written:
    """Write all files of the report into `out`, which is made where it isn't there; older ones are replaced.

    `url` tells where run folders are, if not there where they were.

    Raises:
        EnvironmentNotReady: they can't be written; the old file is still there.
    """
    twice = [name for name, count in Counter(table.name for table in report.tables).items() if count > 1]
    if twice:
        raise ValueError(f"more than one table of the name {', '.join(twice)}")
    out = out.absolute()
    written = Written(
        out / f"{report.name}.html", out / f"{report.name}.json", out / f"{report.name}.md", out / report.name
    )
    try:
        out.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{report.name}-", dir=out))
        try:
            _draft(report, written, draft, url)
            _put_in_place(written, draft)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        raise EnvironmentNotReady(
            f"the report {report.name} can't be written to {out}: {error.strerror or error}",
            "Free some disk space, or choose another place with --out.",
        ) from error
    return written


def _draft(report: Report, written: Written, draft: Path, url: RunsUrl | None) -> None:
    """Write all files into `draft`."""
    texts = {
        written.document: document_text(report, url),
        written.page: page(report, written.page.parent, url),
        written.text: markdown(report, written.page, url),
    }
    for target, text in texts.items():
        (draft / target.name).write_text(text, encoding="utf-8")
    (draft / METHODS_PAGE).write_text(html(), encoding="utf-8")
    tables = draft / written.tables.name
    tables.mkdir()
    for table in report.tables:
        write_csv(table, tables / f"{table.name}.csv")
        write_parquet_and_delta(table, tables)
    for name, text in report.texts.items():
        (tables / name).write_text(text, encoding="utf-8")


def _put_in_place(written: Written, draft: Path) -> None:
    """The folder of tables first: a page never links to tables that aren't there yet."""
    if written.tables.exists():
        written.tables.rename(draft / "replaced")
    (draft / written.tables.name).rename(written.tables)
    (draft / METHODS_PAGE).replace(written.page.with_name(METHODS_PAGE))
    for target in (written.document, written.text, written.page):
        (draft / target.name).replace(target)
