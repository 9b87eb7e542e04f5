"""Ways to make a scenario smaller, each a small function that gives candidates, the boldest first. Pure.

A candidate need not make sense: who runs them validates each, and passes over what nobody could mean. What refers
to something that is gone goes with it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from harness.language import parse_duration_ms
from harness.nightly.document import Document
from harness.nightly.draft import told

Reduction = Callable[[Document], Iterator[Document]]

_CHECKS = ("anomaly", "healthy", "also", "tendency")
_SHORTEST_MS = 100
_FAULTS = ("kill", "terminate", "pause", "resume", "restart", "stop", "fill-disk", "free-disk")
"""Steps that do something to a member or a server, or undo it."""


def without_groups(document: Document) -> Iterator[Document]:
    """One group less, with its members."""
    groups = list(dict.fromkeys(one["group"] for one in document["consumers"].values()))
    for group in groups if len(groups) > 1 else ():
        names = {name for name, one in document["consumers"].items() if one["group"] == group}
        yield _without(document, {*names, group})


def without_topics(document: Document) -> Iterator[Document]:
    """One topic less; who subscribed to nothing else goes as well."""
    for topic in document["topics"] if len(document["topics"]) > 1 else ():
        lonely = {name for name, one in document["consumers"].items() if set(one["subscribe"]) == {topic}}
        yield _without(document, {topic, *lonely})


def without_members(document: Document) -> Iterator[Document]:
    """One member less."""
    for name in reversed(document["consumers"]) if len(document["consumers"]) > 1 else ():
        yield _without(document, {name})


def without_steps(document: Document) -> Iterator[Document]:
    """Fewer steps: half of them, a quarter, and so on down to one, as in delta debugging; then within others."""
    for steps in _fewer(document["steps"]):
        yield {**document, "steps": steps}
    for index, step in enumerate(document["steps"]):
        for inner in _smaller_parallel(step):
            yield {**document, "steps": [*document["steps"][:index], *inner, *document["steps"][index + 1 :]]}


def _fewer(steps: list[Any]) -> Iterator[list[Any]]:
    size = len(steps) // 2
    while size:
        # From the end on: what comes later depends on what was before, and not the other way round.
        for begin in range(len(steps) - size, -1, -size):
            yield [*steps[:begin], *steps[begin + size :]]
        size //= 2


def _smaller_parallel(step: Document) -> Iterator[list[Any]]:
    branches = step.get("parallel")
    if branches is None:
        return
    yield [inner for branch in branches for inner in branch]
    for index, branch in enumerate(branches):
        for fewer in _fewer(branch):
            if fewer:
                yield [{"parallel": [*branches[:index], fewer, *branches[index + 1 :]]}]


def without_faults(document: Document) -> Iterator[Document]:
    """Nothing is done to one member or server any more, its coming back included."""
    targets = {
        name for one in _all_steps(document["steps"]) for word in _FAULTS for name in _listed(one.get(word))
    }
    for target in sorted(targets):
        untouched = partial(_untouched, target=target, started=set())
        yield {**document, "steps": _only(document["steps"], untouched)}


def _untouched(step: Document, target: str, started: set[str]) -> bool:
    """Whether the step is not one of those that do something to the target; its first start stays."""
    ((word, said),) = step.items()
    if word == "start" and target in _listed(said):
        first = target not in started
        started.add(target)
        return first or _listed(said) != [target]
    return word not in _FAULTS or _listed(said) != [target]


def with_fewer_messages(document: Document) -> Iterator[Document]:
    """Each sending with one message a queue, half of its messages, or one tag."""
    queues = {name: _queues(document, name) for name in document["topics"]}
    for place, said in _sends(document):
        topic = said["topic"]
        for smaller in _smaller_sends(said, queues[topic]):
            yield _replaced(document, place, {"send": smaller})


def _smaller_sends(said: Document, queues: int) -> Iterator[Document]:
    per_queue, tags = said.get("per_queue"), said.get("tags")
    if per_queue is not None:
        sizes = [size for size in dict.fromkeys((1, per_queue // 2)) if 0 < size < per_queue]
        yield from ({**said, "per_queue": size, "count": size * queues} for size in sizes)
    else:
        sizes = [
            size
            for size in dict.fromkeys((1, said["count"] // 4, said["count"] // 2))
            if 0 < size < said["count"]
        ]
        yield from ({**said, "count": size} for size in sizes)
    if isinstance(tags, list):
        for tag in tags:
            yield {
                ("tag" if key == "tags" else key): (tag if key == "tags" else one)
                for key, one in said.items()
            }
    yield from _without_each(said, ("every", "properties", "may_fail", "per_queue"))


def with_fewer_queues(document: Document) -> Iterator[Document]:
    """Topics with one queue, or half as many; sendings with so many messages a queue have fewer then."""
    for topic, said in document["topics"].items():
        number = said.get("queues", 4)
        for size in dict.fromkeys((1, 2, number // 2)):
            if 0 < size < number:
                smaller = copy.deepcopy(document)
                smaller["topics"][topic] = {**said, "queues": size}
                for _, send in _sends(smaller):
                    if send["topic"] == topic and "per_queue" in send:
                        send["count"] = send["per_queue"] * _queues(smaller, topic)
                yield smaller


def with_shorter_waits(document: Document) -> Iterator[Document]:
    """Half of a wait; without it is a candidate of `without_steps`."""
    for place, step in _placed(document["steps"]):
        if "wait" not in step:
            continue
        said = step["wait"] if isinstance(step["wait"], dict) else {"duration": step["wait"]}
        half_ms = parse_duration_ms(said["duration"]) // 2 // _SHORTEST_MS * _SHORTEST_MS
        if half_ms:
            yield _replaced(document, place, {"wait": {**said, "duration": told(half_ms)}})


def with_fewer_properties(document: Document) -> Iterator[Document]:
    """Without what needn't be said: of a consumer, of the cluster, of the scenario."""
    for name, said in document["consumers"].items():
        kept = ("group", "subscribe")
        for smaller in _without_each(said, [key for key in said if key not in kept]):
            yield {**document, "consumers": {**document["consumers"], name: smaller}}
        if len(said["subscribe"]) > 1:
            for topic in said["subscribe"]:
                fewer = {one: expression for one, expression in said["subscribe"].items() if one != topic}
                yield {**document, "consumers": {**document["consumers"], name: {**said, "subscribe": fewer}}}
    if len(_listed(document.get("cluster", {}).get("brokers"))) > 1:
        yield _on_one_broker(document)
    yield from _without_each(document, ("cluster",))


def _on_one_broker(document: Document) -> Document:
    smaller = copy.deepcopy(document)
    gone = smaller["cluster"]["brokers"][1:]
    del smaller["cluster"]["brokers"]
    if not smaller["cluster"]:
        del smaller["cluster"]
    for _, send in _sends(smaller):
        if "per_queue" in send:
            send["count"] = send["per_queue"] * _queues(smaller, send["topic"])
    for section in _CHECKS:
        if section in smaller:
            smaller[section] = [one for one in smaller[section] if not _names(one) & set(gone)]
    return smaller


REDUCTIONS: Mapping[str, Reduction] = MappingProxyType(
    {
        "groups": without_groups,
        "topics": without_topics,
        "members": without_members,
        "faults": without_faults,
        "steps": without_steps,
        "messages": with_fewer_messages,
        "queues": with_fewer_queues,
        "waits": with_shorter_waits,
        "properties": with_fewer_properties,
    }
)
"""By what there is less of, in the order in which they are tried: what makes most smaller first."""


# What they are made of ---------------------------------------------------------------------------------


def _without(document: Document, gone: set[str]) -> Document:
    """The document without these consumers, groups or topics, and without what only speaks of them."""
    smaller = copy.deepcopy(document)
    smaller["topics"] = {name: one for name, one in smaller["topics"].items() if name not in gone}
    smaller["consumers"] = {name: one for name, one in smaller["consumers"].items() if name not in gone}
    for one in smaller["consumers"].values():
        one["subscribe"] = {topic: what for topic, what in one["subscribe"].items() if topic not in gone}
        if one.get("beside") in gone:
            del one["beside"]
    smaller["steps"] = _steps_without(smaller["steps"], gone)
    for section in _CHECKS:
        if section in smaller:
            smaller[section] = [one for one in smaller[section] if not _speaks_of(one, gone)]
    return {key: value for key, value in smaller.items() if value != [] or key not in _CHECKS}


def _steps_without(steps: list[Any], gone: set[str]) -> list[Any]:
    kept: list[Any] = []
    for step in steps:
        ((word, said),) = step.items()
        if word == "parallel":
            branches = [branch for branch in (_steps_without(one, gone) for one in said) if branch]
            kept += [{word: branches}] if len(branches) > 1 else branches[0] if branches else []
        elif isinstance(said, list):
            left = [name for name in said if name not in gone]
            kept += [{word: left if len(left) > 1 else left[0]}] if left else []
        elif not _names(step) & gone:
            kept.append(step)
    return kept


def _speaks_of(check: Document, gone: set[str]) -> bool:
    """Whether a check names one of these, in a pattern for a log too."""
    ((_, said),) = check.items()
    pattern = str(said.get("matches", "")).split() if isinstance(said, dict) else []
    return bool((_names(check) | {part.strip(",") for part in pattern}) & gone)


def _names(value: Any) -> set[str]:
    """All texts in a value."""
    if isinstance(value, Mapping):
        return {name for inner in value.values() for name in _names(inner)}
    if isinstance(value, list):
        return {name for inner in value for name in _names(inner)}
    return {value} if isinstance(value, str) else set()


def _listed(said: Any) -> list[str]:
    """The names that a step is about, where it is about names."""
    if isinstance(said, str):
        return [said]
    return list(said) if isinstance(said, list) else []


def _placed(steps: list[Any], before: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Document]]:
    """Every step with its place: indices, for those inside a `parallel` of branch and step too."""
    for index, step in enumerate(steps):
        yield (*before, index), step
        for number, branch in enumerate(step.get("parallel", ())):
            yield from _placed(branch, (*before, index, number))


def _all_steps(steps: list[Any]) -> Iterator[Document]:
    return (step for _, step in _placed(steps))


def _sends(document: Document) -> Iterator[tuple[tuple[int, ...], Document]]:
    return ((place, step["send"]) for place, step in _placed(document["steps"]) if "send" in step)


def _replaced(document: Document, place: tuple[int, ...], step: Document) -> Document:
    smaller = copy.deepcopy(document)
    steps = smaller["steps"]
    *way, last = place
    for index, branch in zip(way[::2], way[1::2], strict=True):
        steps = steps[index]["parallel"][branch]
    steps[last] = step
    return smaller


def _only(steps: list[Any], kept: Callable[[Document], bool]) -> list[Any]:
    found: list[Any] = []
    for step in steps:
        if "parallel" in step:
            branches = [branch for branch in (_only(one, kept) for one in step["parallel"]) if branch]
            found += [{"parallel": branches}] if len(branches) > 1 else branches[0] if branches else []
        elif kept(step):
            found.append(step)
    return found


def _without_each(said: Document, keys: Any) -> Iterator[Document]:
    for gone in keys:
        if gone in said:
            yield {key: value for key, value in said.items() if key != gone}


def _queues(document: Document, topic: str) -> int:
    brokers = (
        document["topics"][topic].get("on") or document.get("cluster", {}).get("brokers") or ["broker-a"]
    )
    return int(document["topics"][topic].get("queues", 4)) * len(_listed(brokers))
