"""The valid steps and checks of a file, even if others are invalid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.language.words import Word
from rocketchaos.harness.scenario.declared import CheckOfScenario, StepOfScenario
from rocketchaos.harness.scenario.place_models import SECTIONS
from rocketchaos.harness.scenario.yaml_places import Document, Path
from rocketchaos.harness.steps import STEPS

_STEP: TypeAdapter[Any] = TypeAdapter(StepOfScenario)
_CHECK: TypeAdapter[Any] = TypeAdapter(CheckOfScenario)


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A step or a check, and its path in the file: `("steps", 3, "send")`."""

    path: Path
    word: Word
    indices: tuple[int, ...]
    """Of a step as `Place` has them."""
    branches: tuple[tuple[PlacedWord, ...], ...] = ()
    """The steps inside it."""

    @property
    def section(self) -> str:
        """`steps`, or one of the lists of checks."""
        return str(self.path[0])


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a file defines, each with its path; None: unknown, because their definition is wrong."""

    topics: Mapping[str, Path] | None
    consumers: Mapping[str, Path] | None
    groups: Mapping[str, Path] | None
    nodes: Mapping[str, Path] | None
    """The name server, the brokers and their slaves."""
    brokers: Mapping[str, Path] | None
    """The brokers, each a master."""
    producers: Mapping[str, Path] | None
    """The further ones."""
    accounts: Mapping[str, Path] | None


def understood(document: Document, section: str) -> tuple[list[PlacedWord], bool]:
    """The valid entries of a section in order, and whether all of them are valid."""
    if section not in document.data:
        return [], False
    if section not in document.words:
        document.words[section] = _understood(document, (section,), _adapter(section), ())
    return document.words[section]


def entry_understood(document: Document, section: str, index: int) -> tuple[list[PlacedWord], bool]:
    """`understood`, of one entry of a section that is a list."""
    return _entry_understood(document, (section, index), index, _adapter(section), ())


def _adapter(section: str) -> TypeAdapter[Any]:
    return _STEP if section == "steps" else _CHECK


def _understood(
    document: Document, base: Path, adapter: TypeAdapter[Any], around: tuple[int, ...]
) -> tuple[list[PlacedWord], bool]:
    data = document.value(base)
    paths = [(*base, index) for index in range(len(data))] if isinstance(data, list) else [base]
    each = [_entry_understood(document, path, index, adapter, around) for index, path in enumerate(paths)]
    return [placed for words, _ in each for placed in words], all(complete for _, complete in each)


def _entry_understood(
    document: Document, path: Path, index: int, adapter: TypeAdapter[Any], around: tuple[int, ...]
) -> tuple[list[PlacedWord], bool]:
    entry = document.value(path)
    inner = [
        _understood(document, branch, adapter, (*around, index, number))
        for number, branch in enumerate(_branches(document, path))
    ]
    try:
        word = adapter.validate_python(entry)
    except ValidationError:
        # What is around them can't be understood; they themselves can.
        return [placed for branch, _ in inner for placed in branch], False
    place = (*path, next(iter(entry)))
    if any(spoilt[: len(place)] == place for spoilt in document.places.spoilt):
        return [], False
    branches = tuple(tuple(branch) for branch, _ in inner)
    return [PlacedWord(place, word, (*around, index), branches)], True


def _branches(document: Document, path: Path) -> Iterator[Path]:
    """The lists of steps inside an entry, by their paths in the file; none if they are invalid."""
    entry = document.value(path)
    word = next(iter(entry)) if isinstance(entry, dict) and len(entry) == 1 else None
    model = STEPS.get(str(word))
    if model is None or model.nested is None or path[0] != "steps":
        return
    place, held = (*path, str(word)), entry[word]
    if isinstance(held, dict) and model.nested in held:
        place, held = (*place, model.nested), held[model.nested]
    elif model.shorthand != model.nested:
        return
    if not model.concurrent:
        yield place
    elif isinstance(held, list):
        yield from ((*place, number) for number in range(len(held)))


def flat(words: Iterable[PlacedWord]) -> Iterator[PlacedWord]:
    """All of them in the order of the file, inner ones after the outer one."""
    for placed in words:
        yield placed
        for branch in placed.branches:
            yield from flat(branch)


def all_words(document: Document) -> dict[str, tuple[list[PlacedWord], bool]]:
    """`understood`, of all sections."""
    return {section: understood(document, section) for section in SECTIONS}


def names_of(document: Document) -> Names:
    """The names that the file defines."""
    return Names(
        topics=_keys(document, "topics"),
        consumers=_consumers(document),
        groups=_groups(document),
        nodes=_nodes(document, lambda needs: needs.nodes),
        brokers=_nodes(document, lambda needs: needs.brokers),
        producers=_keys(document, "producers") if "producers" in document.data else {},
        accounts=_accounts(document),
    )


def _nodes(document: Document, chosen: Callable[[ClusterNeeds], tuple[str, ...]]) -> dict[str, Path] | None:
    if document.is_spoilt(("cluster",)) or ("cluster",) in document.places.incomplete:
        return None
    try:
        needs = ClusterNeeds.model_validate(document.data.get("cluster", {}))
    except ValidationError:
        return None
    return dict.fromkeys(chosen(needs), ("cluster",))


def _accounts(document: Document) -> dict[str, Path] | None:
    cluster = document.data.get("cluster", {})
    accounts = cluster.get("accounts", {}) if isinstance(cluster, dict) else None
    return {name: ("cluster", "accounts", name) for name in accounts} if isinstance(accounts, dict) else None


def _keys(document: Document, section: str) -> dict[str, Path] | None:
    data = document.data.get(section)
    if not isinstance(data, dict) or (section,) in document.places.incomplete:
        return None
    return {name: (section, name) for name in data}


def _consumers(document: Document) -> dict[str, Path] | None:
    """With `groups` a scenario may leave its consumers out: it has none then."""
    if "consumers" not in document.data and "groups" in document.data:
        return {}
    return _keys(document, "consumers")


def _groups(document: Document) -> dict[str, Path] | None:
    bare = document.data.get("groups", [])
    bare = list(bare) if isinstance(bare, list | dict) else [bare]
    declared = document.data.get("consumers", {})
    consumers = _keys(document, "consumers") if "consumers" in document.data else {}
    if consumers is None or not all(isinstance(name, str) for name in bare):
        return None
    groups: dict[str, Path] = dict.fromkeys(bare, ("groups",))
    for name, path in consumers.items():
        consumer = declared[name]
        group = consumer.get("group") if isinstance(consumer, dict) else None
        if not isinstance(group, str) or document.is_spoilt((*path, "group")):
            return None
        groups.setdefault(group, (*path, "group"))
    return groups
