"""The places of all values in a file."""

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rocketchaos.harness.scenario.diagnostics import Diagnostic

Path = tuple[str | int, ...]
"""The keys and indices that lead to a value: `("steps", 3, "send", "count")`."""

_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


def split_lines(text: str) -> list[str]:
    """The lines as YAML counts them, without their ends; at least one."""
    return _LINE_BREAK.split(text)


class Span(NamedTuple):
    """A part of one line; `line` and `column` count from 1, all in characters."""

    line: int
    column: int
    length: int


@dataclass(slots=True)
class Places:
    """The places of all keys and values of a file, by their path.

    The place of a mapping, a list or a missing value is its key, or its beginning if it has no key.
    """

    keys: dict[Path, Span] = field(default_factory=dict)
    values: dict[Path, Span] = field(default_factory=dict)
    spoilt: set[Path] = field(default_factory=set)
    """Values that are already wrong in YAML: they get no further message."""
    incomplete: set[Path] = field(default_factory=set)
    """Mappings with a refused entry: which keys they lack is unknown."""

    def of(self, path: Path, key: bool = False) -> Span:
        """The place of a value, or of its key; if the file lacks it, of the nearest one around it."""
        while path not in self.values and path:
            path = path[:-1]
        own = self.keys.get(path) if key else None
        return own or self.values.get(path) or Span(1, 1, 1)


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file: plain data with places."""

    file: str
    text: str
    lines: list[str]
    data: Any
    places: Places
    words: dict[str, tuple[list[Any], bool]] = field(default_factory=dict)
    """By section, what `harness.scenario.words.understood` has found in it."""

    def report(
        self, path: Path, message: str, suggestion: str | None = None, *, key: bool = False
    ) -> Diagnostic:
        """A mistake at a value, or at its key."""
        return at_span(self.file, self.lines, self.places.of(path, key), message, suggestion)

    def in_file(self, path: Path) -> Path:
        """A path of the model, as far as the file has it. The model has more parts: the field of a shorthand, and
        the list around a single value.
        """
        found: Path = ()
        data = self.data
        for part in path:
            exists = part in data if isinstance(data, dict) else _has_index(data, part)
            if exists:
                data = data[part]
                found = (*found, part)
        return found

    def is_spoilt(self, path: Path) -> bool:
        """Whether a value, or one around it, was refused already."""
        return any(path[:length] in self.places.spoilt for length in range(len(path) + 1))

    def value(self, path: Path) -> Any:
        """The data at a path of the file."""
        data = self.data
        for part in path:
            data = data[part]
        return data

    def source_of(self, path: Path) -> str:
        """The text of a scalar as it is written in the file."""
        span = self.places.of(path)
        return self.lines[span.line - 1][span.column - 1 : span.column - 1 + span.length]


def at_span(
    file: str, lines: list[str], span: Span, message: str, suggestion: str | None = None
) -> Diagnostic:
    """A mistake at a place. A place beyond the end of the file becomes its end."""
    line = min(span.line, len(lines))
    text = lines[line - 1]
    column = min(span.column, len(text) + 1)
    length = max(1, min(span.length, len(text) + 1 - column))
    return Diagnostic(file, line, column, length, message, suggestion, text)


def _has_index(data: Any, part: str | int) -> bool:
    return isinstance(data, list) and isinstance(part, int) and part < len(data)
