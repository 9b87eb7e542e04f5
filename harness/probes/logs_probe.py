"""The lines of servers' and clients' own logs that the scenario's checks ask for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rocketchaos.assertions.log import OfOneLog
from rocketchaos.harness.core.events.servers import LogLine, LogObserved
from rocketchaos.harness.core.names import Names

if TYPE_CHECKING:
    from rocketchaos.harness.cluster.base import Node
    from rocketchaos.harness.probes.context import ProbeContext

LINE_LIMIT = 1_000
"""At most this many lines of a pattern are written into the history; all are counted."""
_LOG = re.compile(r".*\.log(\.\d+)?")
"""The file of a log; those of the C++ client end in `.log.0`, `.log.1` and so on."""
_TIME = re.compile(r"(\d{4}-)(\d{2}|[A-Z][a-z]{2})(-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,6})?)")
"""The C++ client writes the month's name."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Logs:
    """Where the run's part of each log begins, and what of it has been written down."""

    def __init__(self, folder: Path, nodes: Iterable[Node]) -> None:
        """
        Args:
            folder: the run's, with a folder for each worker.
            nodes: whose logs are as long as they are now when the run begins.
        """
        self.folder = folder
        self.begins = {node.name: _size_of(node.log) for node in nodes}
        """In bytes, by node."""
        self.known: dict[tuple[str, str], int] = {}
        """How many lines were found so far, by node or client and pattern."""


def _size_of(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def read_logs(context: ProbeContext, moment: str) -> None:
    """For each `log` check write down the lines since the run's beginning that match, and how many they are.

    A `log-line` is written once, a `log-observed` with the number at every moment. Real names in the lines are
    given back as the scenario's. Where others use the same servers, only lines with a name of this run count.
    """
    for source, pattern in dict.fromkeys(_wanted(context)):
        matching = matching_lines(context, source, pattern)
        known = context.logs.known.get((source, pattern), 0)
        for line in matching[known:LINE_LIMIT]:
            context.history.append(
                source, LogLine.kind, {"of": source, "pattern": pattern, "time": time_in(line), "text": line}
            )
        context.logs.known[source, pattern] = len(matching)
        context.history.append(
            source,
            LogObserved(of=source, pattern=pattern, count=len(matching), moment=moment),
        )


def matching_lines(context: ProbeContext, source: str, pattern: str) -> list[str]:
    """The lines of a node's or a client's log since the run's beginning in which the pattern is found."""
    expression = re.compile(pattern)
    return [line for line in _lines(context, source) if expression.search(line)]


def time_in(line: str) -> str | None:
    """The first time in a line, with the number of its month: `2026-11-28 14:48:20.123`; None: it has none."""
    for found in _TIME.finditer(line):
        year, month, rest = found.groups()
        if month.isdecimal():
            return found[0]
        if month in _MONTHS:
            return f"{year}{_MONTHS.index(month) + 1:02}{rest}"
    return None


def _wanted(context: ProbeContext) -> Iterator[tuple[str, str]]:
    for _, _, check in context.scenario.checks():
        if isinstance(check, OfOneLog):
            one_name = check.consumer is None
            sources = [check.whose] if one_name else context.variables.resolve([check.whose])
            yield from ((source, pattern) for source in sources for pattern in check.patterns)


def _lines(context: ProbeContext, source: str) -> Iterator[str]:
    if not context.servers.is_node(source):
        # It has a process of its own, or the first of those beside it has: all that is in its folder counts.
        folder = context.logs.folder / context.scenario.leaders.get(source, source)
        files = folder.rglob("*.log*")
        for file in sorted(file for file in files if _LOG.fullmatch(file.name)):
            yield from _with_names(context.names, _read(file, 0))
        return
    lines = _read(context.servers.node(source).log, context.logs.begins.get(source, 0))
    if not context.scenario.needs_own_cluster:
        lines = (line for line in lines if context.names.token in line)
    yield from _with_names(context.names, lines)


def _with_names(names: Names, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line.rstrip().replace(f"-{names.token}", "")


def _read(file: Path, begin: int) -> Iterator[str]:
    """The lines from a place on; none if the file isn't there (yet)."""
    try:
        with file.open(encoding="utf-8", errors="replace") as text:
            text.seek(begin)
            yield from text
    except FileNotFoundError:
        return
