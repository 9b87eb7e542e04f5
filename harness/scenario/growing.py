"""A scenario that gains steps and checks without being read again."""

from collections.abc import Mapping, Sequence
from typing import Any

from rocketchaos.harness.scenario import checked, lines_of, parse_document
from rocketchaos.harness.scenario.word_entries import PlacedWord, entry_understood
from rocketchaos.harness.scenario.yaml_places import Document, Path, Places, Span

_DEEPEST = 12
_LONGEST_NUMBER = 18


class GrowingScenario:
    """A scenario and its data, in which each entry of a section is one line of the file."""

    def __init__(self, text: str, file: str) -> None:
        """
        Raises:
            InvalidScenario: it is invalid.
        """
        self.scenario, self._document = parse_document(text, file, reach=False)
        """Its text so far."""

    def grow(self, text: str, sections: Mapping[str, Sequence[Mapping[str, Any]]]) -> bool:
        """Put these entries into these sections, and return whether that is possible. If it isn't, nothing has
        changed, and reading the text reports the mistake. Entries that are the same objects are not validated
        again.

        Args:
            text: the file that says it.
            sections: `steps` and lists of checks in the order of the file, the last ones in it.
        """
        old = self._document
        places = _places(text, old, sections)
        lists = {section: list(entries) for section, entries in sections.items()}
        grown = Document(old.file, text, text.split("\n"), {**old.data, **lists}, places)
        for section, entries in lists.items():
            words = old.words[section][0][: _alike(old.data[section], entries)]
            for index in range(len(words), len(entries)):
                new = _new(grown, section, index)
                if new is None:
                    return False
                words.append(new)
            grown.words[section] = words, True
        update = {section: tuple(word.word for word in grown.words[section][0]) for section in sections}
        scenario = self.scenario.model_copy(update=update)
        if any(True for _ in checked(grown, scenario, reach=False)):
            return False
        self._document = grown
        self.scenario = scenario.with_source(text, grown.file, lines_of(grown))
        return True


def _alike(before: Sequence[Any], entries: Sequence[Any]) -> int:
    """The number of identical ones, from the first on."""
    pairs = enumerate(zip(before, entries, strict=False))
    differing = (index for index, (item, other) in pairs if item is not other)
    return next(differing, min(len(before), len(entries)))


def _new(document: Document, section: str, index: int) -> PlacedWord | None:
    if not _is_written_as_it_is(document.value((section, index))):
        return None
    words, complete = entry_understood(document, section, index)
    return words[0] if complete else None


def _is_written_as_it_is(value: Any, depth: int = 0) -> bool:
    """Whether a file can have it unchanged: reading refuses missing values, long numbers and halves of
    characters."""
    if isinstance(value, dict):
        return depth < _DEEPEST and all(
            _is_written_as_it_is(key) and _is_written_as_it_is(inner, depth + 1)
            for key, inner in value.items()
        )
    if isinstance(value, list):
        return depth < _DEEPEST and all(_is_written_as_it_is(inner, depth + 1) for inner in value)
    if isinstance(value, str):
        return not any("\ud800" <= sign <= "\udfff" for sign in value)
    return value is not None and len(str(value)) <= _LONGEST_NUMBER


def _places(text: str, old: Document, sections: Mapping[str, Sequence[Mapping[str, Any]]]) -> Places:
    """Where the entries are: the sections are the last ones of the file, and each entry is a line."""
    kept = {
        path: span
        for path, span in old.places.values.items()
        if path[:1] not in {(item,) for item in sections}
    }
    keys = {path: span for path, span in old.places.keys.items() if path in kept}
    last: dict[Path, Span] = {}
    line = text.count("\n") + 1 - sum(1 + len(entries) for entries in sections.values())
    for section, entries in sections.items():
        last[(section,)] = Span(line, 1, len(section))
        for index, entry in enumerate(entries):
            span = Span(line + index + 1, 5, 1)
            last[section, index] = span
            last.update(((section, index, word), span) for word in entry)
        line += 1 + len(entries)
    return Places({**keys, **last}, {**kept, **last})
