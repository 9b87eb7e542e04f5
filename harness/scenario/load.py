"""From YAML text to plain data that knows its places.

Built on PyYAML's events, so nothing is ever constructed, merged or overwritten behind the user's back:
duplicate keys, tags, anchors and aliases are refused, and plain scalars mean what YAML 1.2 says.

ruamel.yaml is no better: it knows where values begin but not where they end, stops at the first duplicate key, and
resolves aliases, merge keys and dates unasked. Its loader takes 17 times as long as libyaml's events.
"""

import re
from collections.abc import Iterator
from typing import Any, NoReturn

import yaml
from yaml.error import Mark, MarkedYAMLError
from yaml.reader import ReaderError

from rocketchaos.harness.core.nearest import clipped
from rocketchaos.harness.scenario.diagnostics import Diagnostic, InvalidScenario
from rocketchaos.harness.scenario.scalars import NumberTooLongError, scalar
from rocketchaos.harness.scenario.syntax import explain
from rocketchaos.harness.scenario.yaml_places import Document, Path, Places, Span, at_span, split_lines

_DEEPEST = 16
"""Levels; a scenario has six. It bounds the recursion."""
_SPAN_A_TEXT = (yaml.ScalarEvent, yaml.AliasEvent)
_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")


class _UnreadableError(Exception):
    """The rest of the file can't be read; the diagnostics say why."""


def read_yaml(
    text: str, file: str, what: str = "scenario", first_key: str = "name"
) -> tuple[Document, list[Diagnostic]]:
    """The data of a file, and the mistakes that don't keep one from reading on.

    Args:
        text: its text.
        file: its name, for diagnostics.
        what: the word for such a file. first_key: its usual first key.

    Raises:
        InvalidScenario: it can't be read as YAML to its end, or is no mapping.
    """
    quickly = _read_quickly(text, file, what, first_key)
    if quickly is not None:
        return quickly, []
    reader = _Reader(text, file, what, first_key, yaml.SafeLoader)
    try:
        data = reader.document()
    except _UnreadableError:
        raise InvalidScenario(reader.diagnostics) from None
    return Document(file, text, reader.lines, data, reader.places), reader.diagnostics


def _read_quickly(text: str, file: str, what: str, first_key: str) -> Document | None:
    """The data, parsed by libyaml, 15 times as fast. None if libyaml is missing or the file has a mistake.

    Both parsers read valid files alike. They report mistakes with different words and places, and place a
    missing value differently.
    """
    loader = getattr(yaml, "CSafeLoader", None)
    if loader is None:
        return None
    reader = _Reader(text, file, what, first_key, loader)
    try:
        data = reader.document()
    except _UnreadableError:
        return None
    if reader.diagnostics or reader.leaves_out:
        return None
    return Document(file, text, reader.lines, data, reader.places)


class _Reader:
    """Takes the events of one document. `path` is None for a duplicate, of which no places are kept."""

    def __init__(self, text: str, file: str, what: str, first_key: str, loader: Any) -> None:
        self.text = text
        self.file = file
        self._what = what
        self._first_key = first_key
        self.lines = split_lines(text)
        self.places = Places()
        self.diagnostics: list[Diagnostic] = []
        self._events = self._guarded(yaml.parse(text, Loader=loader))
        self.leaves_out = False
        """Whether a value is missing anywhere."""
        self._last: Any = None
        """The event that was read last."""

    def document(self) -> dict[str, Any]:
        """The mapping that the file consists of."""
        if self.text.startswith("\ufeff"):
            self._stop(Span(1, 1, 1), "the file begins with a byte order mark: save it as UTF-8 without one")
        next(self._events)  # the stream's start
        event = next(self._events)
        if not isinstance(event, yaml.DocumentStartEvent):
            self._stop(Span(1, 1, 1), f"the file is empty: a {self._what} begins with `{self._first_key}: …`")
        event = next(self._events)
        data = self._node(event, (), None, 0)
        if not isinstance(data, dict):
            self._stop(
                self._span(event), f"a {self._what} is a mapping: it begins with `{self._first_key}: …`"
            )
        next(self._events)  # the document's end
        event = next(self._events)
        if not isinstance(event, yaml.StreamEndEvent):
            self._stop(self._span(event), f"a second document begins here: one file is one {self._what}")
        return dict(data)

    def _guarded(self, events: Iterator[Any]) -> Iterator[Any]:
        """The events; errors of the syntax become diagnostics."""
        try:
            for event in events:
                self._last = event
                yield event
        except MarkedYAMLError as error:
            sentence, mark = explain(error)
            self._stop(self._at(mark) if mark else self._so_far(), sentence)
        except ReaderError as error:
            # libyaml counts bytes; what it refuses, the Python parser reads again, and says where.
            position = min(error.position, len(self.text) - 1)
            before = split_lines(self.text[:position])
            self._stop(
                Span(len(before), len(before[-1]) + 1, 1),
                f"the character U+{ord(self.text[position]):04X} can't stand in YAML",
            )
        except (ValueError, OverflowError):
            # PyYAML converts numbers in escapes and directives without a look at their size.
            self._stop(self._so_far(), "an escape or a number after this place is out of range")

    def _so_far(self) -> Span:
        return Span(1, 1, 1) if self._last is None else self._span(self._last)

    def _stop(self, span: Span, message: str) -> NoReturn:
        self._report(span, message)
        raise _UnreadableError

    def _report(self, span: Span, message: str) -> None:
        self.diagnostics.append(at_span(self.file, self.lines, span, message))

    def _at(self, mark: Mark) -> Span:
        return Span(mark.line + 1, mark.column + 1, 1)

    def _span(self, event: Any) -> Span:
        """A scalar's text in its first line; of anything else its first character."""
        start, end = event.start_mark, event.end_mark
        if not isinstance(event, _SPAN_A_TEXT):
            return self._at(start)
        last = end.column if end.line == start.line else len(self.lines[start.line])
        return Span(start.line + 1, start.column + 1, max(1, last - start.column))

    @staticmethod
    def _length(event: Any) -> int:
        return int(event.end_mark.index - event.start_mark.index)

    def _node(self, event: Any, path: Path | None, key: Span | None, depth: int) -> Any:
        """The data of one node; where it stands is noted under `path`."""
        if depth > _DEEPEST:
            self._stop(self._span(event), f"this is nested more than {_DEEPEST} levels deep")
        if (self._refuse_extras(event) or isinstance(event, yaml.AliasEvent)) and path is not None:
            self.places.spoilt.add(path)
        # Nothing at all was written, which PyYAML gives a mark of its own.
        missing = isinstance(event, yaml.ScalarEvent) and self._length(event) == 0
        self.leaves_out = self.leaves_out or missing
        collection = isinstance(event, yaml.CollectionStartEvent)
        if path is not None:
            self.places.values[path] = key if key and (missing or collection) else self._span(event)
            if key is not None:
                self.places.keys[path] = key
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path, depth)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(path, depth)
        return self._scalar(event, path) if isinstance(event, yaml.ScalarEvent) else None

    def _mapping(self, path: Path | None, depth: int) -> dict[str, Any]:
        data: dict[str, Any] = {}
        first: dict[str, int] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            span = self._span(event)
            if isinstance(event, yaml.CollectionStartEvent):
                # A key of its own kind: read it over, it is refused as a whole.
                self._node(event, None, None, depth + 1)
                self._report(span, "a key must be text")
                self._node(next(self._events), None, None, depth + 1)
                self._lacks_an_entry(path)
                continue
            name = self._key(event, span)
            if name is None:
                self._lacks_an_entry(path)
            if isinstance(name, str) and name in first:
                self._report(span, f"the key `{clipped(name)}` is already in line {first[name]}")
                name = None
            below = None if path is None or name is None else (*path, name)
            value = self._node(next(self._events), below, span, depth + 1)
            if name is not None:
                if path is not None and not data and path not in self.places.keys:
                    self.places.values[path] = span  # an entry of a list is found at its first key
                data[name] = value
                first[name] = span.line
        return data

    def _lacks_an_entry(self, path: Path | None) -> None:
        if path is not None:
            self.places.incomplete.add(path)

    def _key(self, event: Any, span: Span) -> str | None:
        """The text of a key; None if it can't be one."""
        self._refuse_extras(event)
        if isinstance(event, yaml.AliasEvent):
            return None
        key = self._scalar(event, None)
        if not isinstance(key, str):
            quoted = f': put it in quotes, `"{clipped(event.value)}"`' if event.value else ""
            self._report(span, f"a key must be text{quoted}")
            return None
        if key == "<<" and event.implicit[0]:
            self._report(span, "merge keys (`<<`) are not supported: write the keys out")
            return None
        return key

    def _list(self, path: Path | None, depth: int) -> list[Any]:
        data: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            below = None if path is None else (*path, len(data))
            data.append(self._node(event, below, None, depth + 1))
        return data

    def _scalar(self, event: Any, path: Path | None) -> Any:
        text = str(event.value)
        if _HALF_A_CHARACTER.search(text):
            return self._refuse_scalar(event, path, "an escape in this text is half a character")
        if not event.implicit[0]:
            return text
        try:
            return scalar(text)
        except NumberTooLongError:
            return self._refuse_scalar(event, path, "this number is too long; put it in quotes if it is text")

    def _refuse_scalar(self, event: Any, path: Path | None, message: str) -> None:
        self._report(self._span(event), message)
        if path is not None:
            self.places.spoilt.add(path)

    def _refuse_extras(self, event: Any) -> bool:
        """Report an alias, an anchor or a tag; whether there was one."""
        alias = isinstance(event, yaml.AliasEvent)
        if not alias and event.anchor is None and event.tag is None:
            return False
        span = self._span(event)
        # libyaml puts what isn't there, such as the key of a lone `?`, behind the last line.
        line = self.lines[span.line - 1] if span.line <= len(self.lines) else ""
        written = re.match(r"[^\s,\[\]{}]+", line[span.column - 1 :])
        shown = f" (`{clipped(written[0])}`)" if written else ""
        if alias:
            self._report(span, f"YAML aliases{shown} are not supported: write it out, or put it in quotes")
        elif event.anchor is not None:
            self._report(span, f"YAML anchors{shown} are not supported: leave them out, or quote the text")
        else:
            self._report(span, f"YAML tags{shown} are not supported: leave them out, or quote the text")
        return True
