"""The page of a report: one HTML file that needs no network, for desktop, phone and paper."""

import base64
import gzip
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape
from pyspark.sql.types import NumericType, TimestampType

from rocketchaos.harness.core.text import counted, printable
from rocketchaos.spark_reports.methods import METHODS, Method
from rocketchaos.spark_reports.render.figure_data import figure_json, height_px, min_width_px
from rocketchaos.spark_reports.render.links import RunLink, RunLinks, RunsUrl
from rocketchaos.spark_reports.render.made_from import store_words
from rocketchaos.spark_reports.render.values import Shown, heading, shown
from rocketchaos.spark_reports.report import RUN_COLUMNS, Figure, Report, Table
from rocketchaos.spark_reports.run_names import parts_of

ROW_LIMIT = 1_000
"""Rows of a table on the page; its files have all."""
TABLE_KINDS = ("csv", "parquet", "delta")
"""The files of a table."""
_CODE = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of one column."""

    name: str
    text: str
    number: bool
    time: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table on the page; with an `anchor` if links can lead to it."""

    anchor: str | None
    cells: Sequence[Shown]


@dataclass(frozen=True, slots=True)
class File:
    """One of a table's files, seen from the page."""

    name: str
    link: str


@dataclass(frozen=True, slots=True)
class FigurePart:
    """A figure on the page."""

    id: str
    file: str
    title: str
    says: str
    methods: Sequence[Method]
    sql: str
    json: Markup
    height: int
    min_width: int
    figure: bool = True


@dataclass(frozen=True, slots=True)
class TablePart:
    """A table on the page."""

    id: str
    title: str
    says: str
    methods: Sequence[Method]
    sql: str
    heads: Sequence[Heading]
    rows: Sequence[Row]
    counted: str
    left_out: str
    files: Sequence[File]
    figure: bool = False


@dataclass(frozen=True, slots=True)
class SectionPart:
    """A section on the page."""

    id: str
    title: str
    says: str
    parts: Sequence[FigurePart | TablePart]


@dataclass(frozen=True, slots=True)
class Packed:
    """A script that the page unpacks (`report.js`): a third of its size, by which pages stay within 2 MB."""

    banner: Markup
    """The comment at its beginning, with the licence."""
    text: Markup
    digest: Markup


def page(report: Report, folder: Path, url: RunsUrl | None = None) -> str:
    """The page for `folder`.

    `url` is the address of run folders, if they have moved.
    """
    links = RunLinks(folder, url)
    plotly = _plotly() if report.figures else None
    script = _script(template("report.js") + template("tables.js"))
    digests = ([plotly.digest] if plotly else []) + [_digest(script)]
    return (
        environment()
        .get_template("report.html.jinja")
        .render(
            report=report,
            headline=_sentence(report.headline, links),
            lines=[_sentence(line, links) for line in report.lines],
            store=store_words(report.store),
            sections=_sections(report, links),
            css=Markup(template("report.css")),
            plotly=plotly,
            script=script,
            hashes=digests,
        )
    )


def _methods(part: Figure | Table) -> list[Method]:
    return [METHODS[method] for method in part.methods]


def template(name: str) -> str:
    """One of the files in `templates`, which may lie within a zip under `spark-submit`."""
    return files("rocketchaos.spark_reports.render").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def environment() -> Environment:
    """Jinja for pages: everything is escaped, and missing values are errors."""
    environment = Environment(
        loader=FunctionLoader(template),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["with_code"] = _with_code
    return environment


def _with_code(text: str) -> Markup:
    """Names and commands between backticks become code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(printable(text, keep="\n\t")))))


def _sentence(text: str, links: RunLinks) -> Markup:
    """A sentence with its runs as links."""
    shown = Markup()
    for n, part in enumerate(parts_of(text)):
        run = links.to(part) if n % 2 else None
        shown += (
            _with_code(part)
            if run is None
            else Markup(environment().get_template("run.html.jinja").render(run=run))
        )
    return shown


def _shown_text(value: object) -> object:
    """Foreign text without control characters; autoescape does the rest."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value, keep="\n\t")
    return value


@cache
def _plotly() -> Packed:
    """The part of plotly.js that draws in two dimensions: a third of what the package `plotly` has."""
    script = _script(template("plotly-cartesian.min.js"))
    banner = script[: script.index("*/") + len("*/")]
    return Packed(
        Markup(banner),
        Markup(base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode()),
        _digest(script),
    )


def _script(text: str) -> Markup:
    """A script, as a browser sees it between its tags."""
    return Markup(text.replace("\r\n", "\n").replace("\r", "\n"))


def _digest(script: str) -> Markup:
    """The digest by which the page allows only this script."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Markup(f"'sha256-{digest}'")


def _sections(report: Report, links: RunLinks) -> list[SectionPart]:
    return [
        SectionPart(
            f"section-{n}",
            section.title,
            section.says,
            [
                _table(report, part, links) if isinstance(part, Table) else _figure(report, part)
                for part in section.parts
            ],
        )
        for n, section in enumerate(report.sections, 1)
    ]


def _figure(report: Report, figure: Figure) -> FigurePart:
    return FigurePart(
        _id("figure", figure.name),
        f"{report.name}-{figure.name}",
        figure.title,
        figure.says,
        _methods(figure),
        figure.sql,
        figure_json(figure),
        height_px(figure),
        min_width_px(figure),
    )


def _table(report: Report, table: Table, links: RunLinks) -> TablePart:
    left_out = len(table.rows) - ROW_LIMIT
    return TablePart(
        _id("table", table.name),
        table.title,
        table.says,
        _methods(table),
        table.sql,
        [
            Heading(
                field.name,
                heading(field.name),
                isinstance(field.dataType, NumericType),
                isinstance(field.dataType, TimestampType),
            )
            for field in table.schema.fields
        ],
        _rows(table, links),
        counted(len(table.rows), "row"),
        f"{counted(left_out, 'more row')}: {table.name}.csv has all." if left_out > 0 else "",
        [File(kind, quote(f"{report.name}/{table.name}.{kind}")) for kind in TABLE_KINDS],
    )


def _rows(table: Table, links: RunLinks) -> list[Row]:
    # If an anchor comes twice, the first row keeps it.
    anchors: set[str | None] = {None}
    rows = []
    for row in table.rows[:ROW_LIMIT]:
        at = table.anchor(row)
        cells = [shown(row.get(name), _run(name, row.get(name), links)) for name in table.schema.names]
        rows.append(Row(None if at in anchors else at, cells))
        anchors.add(at)
    return rows


def _run(column: str, value: object, links: RunLinks) -> RunLink | None:
    return links.to(value) if column in RUN_COLUMNS and isinstance(value, str) and value else None


def _id(kind: str, name: str) -> str:
    return f"{kind}-{re.sub('[^a-z0-9]+', '-', name.lower())}"
