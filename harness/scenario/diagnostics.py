"""The mistakes of a scenario file, as a user sees them: place, line, caret, nearest word."""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from rocketchaos.harness.core.errors import UsageProblem

_WIDTH = 150
"""The characters shown of a source line. Of a longer line, those around the place."""
_SHOWN_OF_A_FILE = 10
"""The mistakes of one file that a message shows. A file with more is often no scenario at all."""
_BOLD, _RED, _DIM, _PLAIN = "\x1b[1m", "\x1b[31m", "\x1b[2m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake at one place of a scenario file. `line` and `column` count from 1, in characters."""

    file: str
    line: int
    column: int
    length: int
    """The number of characters of the mistake, all in this line; at least 1."""
    message: str
    suggestion: str | None
    """The nearest word that is allowed here."""
    source_line: str

    @property
    def text(self) -> str:
        """The message with the suggestion, in one line."""
        advice = f"; did you mean `{self.suggestion}`?" if self.suggestion is not None else ""
        return printable(self.message + advice)


class InvalidScenario(UsageProblem):
    """A scenario file is invalid; the message shows its first mistakes, and counts the others."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = in_order(diagnostics)
        """All mistakes, file by file, sorted by place."""
        super().__init__("\n".join(_first_of_each_file(self.diagnostics)))


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each once, file by file, sorted by place. Files keep their order, and so do those of one place."""
    once = tuple(dict.fromkeys(diagnostics))
    files = {file: number for number, file in enumerate(dict.fromkeys(each.file for each in once))}
    return tuple(sorted(once, key=lambda each: (files[each.file], each.line, each.column)))


def _first_of_each_file(diagnostics: Iterable[Diagnostic]) -> Iterator[str]:
    """The text of the first mistakes of each file; they come file by file."""
    for file, group in groupby(diagnostics, key=lambda diagnostic: diagnostic.file):
        mistakes = list(group)
        yield render(mistakes[:_SHOWN_OF_A_FILE])
        if (more := len(mistakes) - _SHOWN_OF_A_FILE) > 0:
            yield f"{printable(file)}: and {more} more {'mistake' if more == 1 else 'mistakes'}"


def render(diagnostics: Iterable[Diagnostic], color: bool = False) -> str:
    """All of them as text: `file:line:column: message`, the line, a caret under the place."""
    return "\n".join(_render_one(diagnostic, color) for diagnostic in diagnostics)


def printable(text: str) -> str:
    """The text in one line, with what a terminal might obey or can't show written as an escape."""
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text
    )


def _render_one(diagnostic: Diagnostic, color: bool) -> str:
    bold, red, dim, plain = (_BOLD, _RED, _DIM, _PLAIN) if color else ("", "", "", "")
    line, start = _window(diagnostic.source_line, diagnostic.column - 1)
    shown = [_shown(sign) for sign in line]
    before = sum(_columns(sign) for sign in shown[:start])
    meant = sum(_columns(sign) for sign in shown[start : start + diagnostic.length]) or 1
    return "\n".join(
        (
            f"{bold}{printable(diagnostic.file)}:{diagnostic.line}:{diagnostic.column}:{plain} {diagnostic.text}",
            f"{dim}{diagnostic.line:>5} |{plain} {''.join(shown)}".rstrip(),
            f"{dim}{'':>5} |{plain} {' ' * before}{red}^{'~' * (meant - 1)}{plain}",
        )
    )


def _window(line: str, start: int) -> tuple[str, int]:
    """The shown part of a line, and the place in it."""
    if len(line) <= _WIDTH:
        return line, start
    first = max(0, min(start - _WIDTH // 3, len(line) - _WIDTH))
    return line[first : first + _WIDTH], start - first


def _shown(sign: str) -> str:
    """A character of a source line as it is shown; a tab as one space, so that the caret is right below."""
    return " " if sign == "\t" else printable(sign)


def _columns(shown: str) -> int:
    """How many columns of a terminal it takes."""
    if len(shown) != 1:
        return len(shown)
    if unicodedata.combining(shown):
        return 0
    return 2 if unicodedata.east_asian_width(shown) in "WF" else 1
