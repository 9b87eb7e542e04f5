"""A report in a few lines, for a terminal or a chat."""

from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from rocketchaos.harness.core.text import one_line
from rocketchaos.spark_reports.render.digest import Digest, digests
from rocketchaos.spark_reports.render.links import PAGE, RunsUrl, path_text, run_name, run_text
from rocketchaos.spark_reports.render.made_from import store_line
from rocketchaos.spark_reports.render.values import TONES
from rocketchaos.spark_reports.report import Report
from rocketchaos.spark_reports.run_names import parts_of, with_runs

_STYLES = {"good": "green", "unsure": "yellow", "bad": "red", "quiet": "dim"}
_MARKDOWN = str.maketrans({item: f"\\{item}" for item in "\\`*_[]<>|#~"})


def show(report: Report, console: Console, page: Path | None = None, url: RunsUrl | None = None) -> None:
    """Print the sentences, one or two short tables, and the source of the report on a console.

    Args:
        report: the report.
        console: with or without colours.
        page: the path of the whole report.
        url: the address of run folders, if they have moved.
    """
    _say(console, Text(one_line(report.title), style="bold"))
    _say(console, Text(_line(report.headline, url)))
    console.print()
    for line in report.lines:
        _say(console, Text(f"- {_line(line, url)}"))
    for digest in digests(report, console.width):
        console.print()
        console.print(_grid(digest))
        if digest.more:
            _say(console, Text(digest.more, style="dim"))
    console.print()
    _say(console, Text(f"Made from {store_line(report.store)}."))
    if page is not None:
        _say(console, Text(f"Page: {one_line(page)}"))


def one_sentence(report: Report, as_markdown: bool, url: RunsUrl | None = None) -> str:
    """The headline alone, as a line for a chat."""
    return _quiet_line(report.headline, url) if as_markdown else _line(report.headline, url)


def _line(sentence: str, url: RunsUrl | None) -> str:
    return one_line(with_runs(sentence, lambda source: run_text(source, url)))


def _say(console: Console, text: Text) -> None:
    # Not wrapped by rich: a terminal does that itself, and a log or a chat keeps the line whole.
    console.print(text, soft_wrap=True, highlight=False)


def _grid(digest: Digest) -> Grid:
    grid = Grid(
        title=Text(digest.title),
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for name, number in zip(digest.heads, digest.numbers, strict=True):
        grid.add_column(Text(name), justify="right" if number else "left", overflow="fold")
    for row in digest.rows:
        grid.add_row(*(Text(cell, style=_STYLES.get(TONES.get(cell, ""), "")) for cell in row))
    return grid


def markdown(report: Report, page: Path | None = None, url: RunsUrl | None = None) -> str:
    """The same in Markdown, for a chat."""
    parts = [f"## {_quiet(report.title)}", f"**{_quiet_line(report.headline, url)}**"]
    if report.lines:
        parts.append("\n".join(f"- {_quiet_line(line, url)}" for line in report.lines))
    for digest in digests(report):
        ruler = ["--:" if number else "---" for number in digest.numbers]
        lines = [_row([_quiet(head) for head in digest.heads]), _row(ruler)]
        lines += [_row([_quiet(cell) for cell in row]) for row in digest.rows]
        parts += [f"**{_quiet(digest.title)}**", "\n".join(lines)]
        if digest.more:
            parts.append(_quiet(digest.more))
    parts.append(f"Made from {_quiet(store_line(report.store))}.")
    if page is not None:
        parts.append(f"Page: `{one_line(page).replace('`', '')}`")
    return "\n\n".join(parts) + "\n"


def _quiet_line(sentence: str, url: RunsUrl | None) -> str:
    """A sentence; its runs are links if there is an address."""
    runs = iter(parts_of(sentence)[1::2])
    return with_runs(_quiet(sentence), lambda _: _quiet_run(next(runs), url))


def _quiet_run(source: str, url: RunsUrl | None) -> str:
    if url is None:
        return _quiet(path_text(source))
    return f"[{_quiet(run_name(source))}]({url.to(source, PAGE)})"


def _quiet(text: object) -> str:
    """A foreign text in Markdown: without its markup, and without mentions in a chat."""
    return one_line(text).translate(_MARKDOWN).replace("@", "@\N{WORD JOINER}")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
