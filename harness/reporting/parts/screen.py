"""A rich console on which strangers' text is safe, and which also speaks ASCII."""

import codecs
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rocketchaos.harness.core.model import Holds, OutcomeKind
from rocketchaos.harness.core.text import printable
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS

_ASCII: Mapping[int, str] = str.maketrans(
    {"✓": "ok", "✗": "NO", "…": "...", "·": "-", "–": "-", "—": "-", "→": "->", "’": "'"}
)
_MARKS: Mapping[Holds, str] = {Holds.YES: "✓", Holds.NO: "✗", Holds.UNKNOWN: "?"}
_MARK_STYLES: Mapping[Holds, str] = {Holds.YES: "green", Holds.NO: "bold red", Holds.UNKNOWN: "bold yellow"}


_NARROWEST = 20
_WHOLE = ("queue", "sent", "offset", "took", "RocketMQ")
"""Columns that are short, and hard to read when folded."""
_LONGEST_WORD = {
    "outcome": len(OutcomeKind.NOT_REPRODUCED),
    "expected?": len("expected?"),
    "client": max(map(len, CLIENT_KINDS)),
}
"""Columns that fold between words alone."""


class Screen:
    """Prints lines and small tables; every text on it has been made printable."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._encoding = console.encoding or "ascii"
        self._unicode = codecs.lookup(self._encoding).name.startswith("utf")

    def text(self, value: object, style: str = "") -> Text:
        """The value as text that neither acts on the terminal nor breaks its encoding."""
        shown = printable(value)
        if not self._unicode:
            shown = shown.translate(_ASCII).encode(self._encoding, "backslashreplace").decode(self._encoding)
        return Text(shown, style)

    def mark(self, holds: Holds, *, quiet: bool = False) -> Text:
        """`✓`, `✗` or `?`; quiet where it is as it should be that the check doesn't hold."""
        return self.text(_MARKS[holds], "dim" if quiet else _MARK_STYLES[holds])

    def line(self, *parts: Text | str, indent: int = 0) -> None:
        """One paragraph, wrapped to the width of the console with its indentation kept."""
        joined = Text.assemble(*(part if isinstance(part, Text) else self.text(part) for part in parts))
        width = max(_NARROWEST, self._console.width - indent)
        for item in joined.wrap(self._console, width):
            item.rstrip()
            self._console.print(Text(" " * indent) + item, highlight=False, soft_wrap=True)

    def unbroken(self, label: str, value: str) -> None:
        """A line to be pasted somewhere: never wrapped."""
        joined = Text.assemble(self.text(f"{label}  ", "dim"), self.text(value))
        self._console.print(joined, highlight=False, soft_wrap=True)

    def heading(self, title: str, rest: str = "") -> None:
        """A blank line and the title of a part."""
        self._console.print()
        self.line(self.text(title, "bold"), self.text(f"  {rest}" if rest else ""))

    def table(self, titles: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """A table without lines; columns fold where the console is narrow."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for title in titles:
            table.add_column(
                self.text(title),
                overflow="fold",
                no_wrap=title in _WHOLE,
                min_width=_LONGEST_WORD.get(title),
            )
        for row in rows:
            table.add_row(*(cell if isinstance(cell, Text) else self.text(cell) for cell in row))
        self._console.print(Padding(table, (0, 0, 0, 2), expand=False), highlight=False)


def outcome_style(run: Report) -> str:
    """How the outcome's word is coloured: by whether it was expected, not by which it is."""
    if run.outcome.as_expected:
        return "bold green"
    if run.outcome.measured:
        return "bold cyan"
    if run.outcome.kind is OutcomeKind.INCONCLUSIVE:
        return "bold yellow"
    return "bold red"
