"""The steps and checks of a file that can be understood, also where others can't be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from harness.language import Word
from harness.scenario import CheckOfScenario, StepOfScenario
from harness.spec.models import SECTIONS
from harness.spec.places import Document, Path

_STEP: TypeAdapter[Any] = TypeAdapter(StepOfScenario)
_CHECK: TypeAdapter[Any] = TypeAdapter(CheckOfScenario)


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A step or a check, and where in the file it stands: `("steps", 3, "send")`."""

    path: Path
    word: Word

    @property
    def section(self) -> str:
        """`steps`, `anomaly`, `healthy` or `also`."""
        return str(self.path[0])


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a file defines, each with its path; None: not known, for their definition is wrong."""

    topics: Mapping[str, Path] | None
    consumers: Mapping[str, Path] | None
    groups: Mapping[str, Path] | None


def understood(document: Document, section: str) -> tuple[list[PlacedWord], bool]:
    """The valid entries of a section in order, and whether all of them are valid."""
    if section not in document.data:
        return [], False
    data = document.data[section]
    entries = data if isinstance(data, list) else [data]
    base: Path = (section,)
    adapter = _STEP if section == "steps" else _CHECK
    words = []
    for index, entry in enumerate(entries):
        path = (*base, index) if isinstance(data, list) else base
        try:
            word = adapter.validate_python(entry)
        except ValidationError:
            continue
        place = (*path, next(iter(entry)))
        if not any(spoilt[: len(place)] == place for spoilt in document.places.spoilt):
            words.append(PlacedWord(place, word))
    return words, len(words) == len(entries)


def all_words(document: Document) -> dict[str, tuple[list[PlacedWord], bool]]:
    """`understood`, of all sections."""
    return {section: understood(document, section) for section in SECTIONS}


def names_of(document: Document) -> Names:
    """The names that the file defines."""
    return Names(
        topics=_keys(document, "topics"), consumers=_keys(document, "consumers"), groups=_groups(document)
    )


def _keys(document: Document, section: str) -> dict[str, Path] | None:
    data = document.data.get(section)
    if not isinstance(data, dict) or (section,) in document.places.incomplete:
        return None
    return {name: (section, name) for name in data}


def _groups(document: Document) -> dict[str, Path] | None:
    consumers = _keys(document, "consumers")
    if consumers is None:
        return None
    groups: dict[str, Path] = {}
    for name, path in consumers.items():
        consumer = document.data["consumers"][name]
        group = consumer.get("group") if isinstance(consumer, dict) else None
        if not isinstance(group, str) or document.is_spoilt((*path, "group")):
            return None
        groups.setdefault(group, (*path, "group"))
    return groups
