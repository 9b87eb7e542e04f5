"""A report becomes files: a page, a document, a short text, and each table for machines.

=============================  ==========================================================
`<name>.html`                  the page, self-contained
`<name>.json`                  the same for machines, with all rows
`<name>.md`                    the short text, for a chat
`<name>/<table>.csv`           one file
`<name>/<table>.parquet/`      a folder, as Spark writes it
`<name>/<table>.delta/`        a Delta table
`<name>/<text>.txt`            a file for another command, as `flakiness/known.txt`
`methods.html`                 the statistical methods, to which all pages link
=============================  ==========================================================

A Spark that doesn't see the folder, as a Spark Connect server elsewhere, leaves out the two that it writes.

All files are first written elsewhere, and then moved into place: if a report can't be written, the older one
stays whole.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import SparkSession

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.spark_reports.driver import driver_of
from rocketchaos.spark_reports.render.document import document_text
from rocketchaos.spark_reports.render.links import RunsUrl
from rocketchaos.spark_reports.render.methods_page import html
from rocketchaos.spark_reports.render.page import TABLE_KINDS, page
from rocketchaos.spark_reports.render.tables import write_csv, write_with_spark
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
    kinds: Sequence[str] = TABLE_KINDS
    """The files that there are of each table."""


def write(spark: SparkSession, report: Report, out: Path, url: RunsUrl | None = None) -> Written:
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
            kinds = _draft(spark, report, written, draft, url)
            _put_in_place(written, draft)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        raise EnvironmentNotReady(
            f"the report {report.name} can't be written to {out}: {error.strerror or error}",
            "Free some disk space, or choose another place with --out.",
        ) from error
    return replace(written, kinds=kinds)


def _draft(
    spark: SparkSession, report: Report, written: Written, draft: Path, url: RunsUrl | None
) -> Sequence[str]:
    """Write all files into `draft`; the kinds of files that there are of each table."""
    document = draft / written.document.name
    document.write_text(document_text(report, url), encoding="utf-8")
    kinds = TABLE_KINDS if driver_of(spark).sees(document) else TABLE_KINDS[:1]
    texts = {
        written.page: page(report, written.page.parent, url, kinds),
        written.text: markdown(report, written.page, url),
    }
    for target, text in texts.items():
        (draft / target.name).write_text(text, encoding="utf-8")
    (draft / METHODS_PAGE).write_text(html(), encoding="utf-8")
    tables = draft / written.tables.name
    tables.mkdir()
    for table in report.tables:
        write_csv(table, tables / f"{table.name}.csv")
    for name, text in report.texts.items():
        (tables / name).write_text(text, encoding="utf-8")
    # Python has shown by now that there can be written; Spark tells less clearly that it can't.
    if kinds == TABLE_KINDS:
        write_with_spark(spark, report.tables, tables)
    return kinds


def _put_in_place(written: Written, draft: Path) -> None:
    """The folder of tables first: a page never links to tables that aren't there yet."""
    if written.tables.exists():
        written.tables.rename(draft / "replaced")
    (draft / written.tables.name).rename(written.tables)
    (draft / METHODS_PAGE).replace(written.page.with_name(METHODS_PAGE))
    for target in (written.document, written.text, written.page):
        (draft / target.name).replace(target)
