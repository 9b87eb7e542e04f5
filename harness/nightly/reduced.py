"""The parts of reductions: documents and steps without something, and ways to find things in them. Pure."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rocketchaos.harness.language.fault_registry import NETWORK_FAULTS
from rocketchaos.harness.nightly.document import Document

CHECKS = ("anomaly", "healthy", "also", "tendency")
"""The lists of checks that a document may have."""
NETWORK = NETWORK_FAULTS
"""Steps that do something to the network, until `heal`."""


def without(document: Document, gone: set[str]) -> Document:
    """The document without these consumers, groups or topics, and without steps and checks that need them."""
    smaller = copy.deepcopy(document)
    smaller["topics"] = {name: entry for name, entry in smaller["topics"].items() if name not in gone}
    smaller["consumers"] = {name: entry for name, entry in smaller["consumers"].items() if name not in gone}
    for item in smaller["consumers"].values():
        item["subscribe"] = {topic: what for topic, what in item["subscribe"].items() if topic not in gone}
        if item.get("beside") in gone:
            del item["beside"]
    smaller["steps"] = steps_without(smaller["steps"], gone)
    for section in CHECKS:
        if section in smaller:
            smaller[section] = [entry for entry in smaller[section] if not _speaks_of(entry, gone)]
    return {key: value for key, value in smaller.items() if value != [] or key not in CHECKS}


def steps_without(steps: list[Any], gone: set[str]) -> list[Any]:
    """The steps without those about these alone; where others are named too, about the others."""
    return without_idle_heals(_of_others(steps, gone))


def _of_others(steps: list[Any], gone: set[str]) -> list[Any]:
    kept: list[Any] = []
    for step in steps:
        ((word, said),) = step.items()
        if word == "parallel":
            branches = [branch for branch in (_of_others(item, gone) for item in said) if branch]
            kept += [{word: branches}] if len(branches) > 1 else branches[0] if branches else []
        elif isinstance(said, list):
            left = _left(said, gone)
            kept += [{word: left}] if left else []
        elif word in NETWORK:
            sides = {side: _left(who, gone) if isinstance(who, list) else who for side, who in said.items()}
            kept += [] if names_in(sides) & gone or None in sides.values() else [{word: sides}]
        elif not names_in(step) & gone:
            kept.append(step)
    return kept


def _left(names: list[str], gone: set[str]) -> list[str] | str | None:
    """Those names that stay, as one writes them."""
    left = [name for name in names if name not in gone]
    return left if len(left) > 1 else left[0] if left else None


def _speaks_of(check: Document, gone: set[str]) -> bool:
    """Whether a check names one of these, in a pattern for a log too."""
    ((_, said),) = check.items()
    pattern = str(said.get("matches", "")).split() if isinstance(said, dict) else []
    return bool((names_in(check) | {part.strip(",") for part in pattern}) & gone)


def word_of(step: Document) -> str:
    """What a step, or a check, is called."""
    return next(iter(step))


def names_in(value: Any) -> set[str]:
    """All texts in a value."""
    if isinstance(value, Mapping):
        return {name for inner in value.values() for name in names_in(inner)}
    if isinstance(value, list):
        return {name for inner in value for name in names_in(inner)}
    return {value} if isinstance(value, str) else set()


def listed(said: Any) -> list[str]:
    """The names that a step is about, where it is about names."""
    if isinstance(said, str):
        return [said]
    return list(said) if isinstance(said, list) else []


def placed(steps: list[Any], before: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Document]]:
    """Every step with its place: indices, for those inside a `parallel` of branch and step too."""
    for index, step in enumerate(steps):
        yield (*before, index), step
        for number, branch in enumerate(step.get("parallel", ())):
            yield from placed(branch, (*before, index, number))


def all_steps(steps: list[Any]) -> Iterator[Document]:
    """Every step, those inside a `parallel` too."""
    return (step for _, step in placed(steps))


def sends(document: Document) -> Iterator[tuple[tuple[int, ...], Document]]:
    """The fields of each send, with its place."""
    return ((place, step["send"]) for place, step in placed(document["steps"]) if "send" in step)


def replaced(document: Document, place: tuple[int, ...], step: Document) -> Document:
    """The document with another step at this place."""
    smaller = copy.deepcopy(document)
    steps, index = beside(smaller["steps"], place)
    steps[index] = step
    return smaller


def beside(steps: list[Any], place: tuple[int, ...]) -> tuple[list[Any], int]:
    """The list in which the step of this place stands, and its index there."""
    *way, last = place
    for index, branch in zip(way[::2], way[1::2], strict=True):
        steps = steps[index]["parallel"][branch]
    return steps, last


def only(steps: list[Any], wanted: Callable[[Document], bool]) -> list[Any]:
    """The steps that are wanted; a `parallel` of which one branch is left is that branch."""
    return without_idle_heals(_kept(steps, wanted))


def _kept(steps: list[Any], wanted: Callable[[Document], bool]) -> list[Any]:
    found: list[Any] = []
    for step in steps:
        if "parallel" in step:
            branches = [branch for branch in (_kept(item, wanted) for item in step["parallel"]) if branch]
            found += [{"parallel": branches}] if len(branches) > 1 else branches[0] if branches else []
        elif wanted(step):
            found.append(step)
    return found


def without_each(said: Document, keys: Iterable[str]) -> Iterator[Document]:
    """The mapping without one of these keys, each in turn."""
    for gone in keys:
        if gone in said:
            yield {key: value for key, value in said.items() if key != gone}


def queues_of(document: Document, topic: str) -> int:
    """A topic's queues, on all its brokers together."""
    brokers = (
        document["topics"][topic].get("on") or document.get("cluster", {}).get("brokers") or ["broker-a"]
    )
    return int(document["topics"][topic].get("queues", 4)) * len(listed(brokers))


def without_idle_heals(steps: list[Any]) -> list[Any]:
    """The steps without each `heal` before which nothing is done to the network that isn't healed yet."""
    active: set[str] = set()

    def is_needed(step: Document) -> bool:
        ((word, said),) = step.items()
        if word in NETWORK:
            active.add(word)
        if word != "heal":
            return True
        kinds = set(listed(said["faults"] if isinstance(said, dict) else said))
        meant = set(active) if "all" in kinds else active & kinds
        if not isinstance(said, dict):  # otherwise only those of somebody end
            active.difference_update(meant)
        return bool(meant)

    return _kept(steps, is_needed)
