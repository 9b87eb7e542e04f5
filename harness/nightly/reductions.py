"""Ways to make a scenario smaller, each a small function that gives candidates, the boldest first. Pure.

A candidate need not make sense: the caller validates each, and skips those that make no sense. What refers to
something that is gone goes with it.
"""

import copy
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from rocketchaos.harness.language.fault_registry import FAULT_KINDS
from rocketchaos.harness.language.words import parse_duration_ms
from rocketchaos.harness.nightly.document import Document
from rocketchaos.harness.nightly.draft import duration_text
from rocketchaos.harness.nightly.reduced import (
    CHECKS,
    NETWORK,
    all_steps,
    beside,
    listed,
    names_in,
    only,
    placed,
    queues_of,
    replaced,
    sends,
    steps_without,
    without,
    without_each,
    without_idle_heals,
    word_of,
)

Reduction = Callable[[Document], Iterator[Document]]

_SHORTEST_MS = 100
_ENDS: Mapping[str, tuple[str, ...]] = {
    word: kind.undone_by for word, kind in FAULT_KINDS.items() if word not in NETWORK
}
"""Steps that do something to a member or a server, each with those that undo it."""
_FAULTS = frozenset({*_ENDS, *(end for ends in _ENDS.values() for end in ends)} - {"start"})


def without_groups(document: Document) -> Iterator[Document]:
    """One group less, with its members."""
    groups = list(dict.fromkeys(item["group"] for item in document["consumers"].values()))
    for group in groups if len(groups) > 1 else ():
        names = {name for name, item in document["consumers"].items() if item["group"] == group}
        yield without(document, {*names, group})


def without_topics(document: Document) -> Iterator[Document]:
    """One topic less; who subscribed to nothing else goes as well."""
    for topic in document["topics"] if len(document["topics"]) > 1 else ():
        lonely = {name for name, item in document["consumers"].items() if set(item["subscribe"]) == {topic}}
        yield without(document, {topic, *lonely})


def without_members(document: Document) -> Iterator[Document]:
    """One member less."""
    for name in reversed(document["consumers"]) if len(document["consumers"]) > 1 else ():
        yield without(document, {name})


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
    """Nothing is done to one member or server any more, nor to the network; then one fault less.

    With a fault goes what undoes it.
    """
    targets = {
        name for item in all_steps(document["steps"]) for word in _FAULTS for name in listed(item.get(word))
    }
    for target in sorted(targets):
        untouched = partial(_untouched, target=target, started=set())
        yield {**document, "steps": only(document["steps"], untouched)}
    if any(word_of(step) in NETWORK for step in all_steps(document["steps"])):
        yield {**document, "steps": only(document["steps"], lambda step: word_of(step) not in NETWORK)}
    for place, step in placed(document["steps"]):
        if word_of(step) in _ENDS or word_of(step) in NETWORK:
            for waits in (False, True):
                yield {**document, "steps": _without_one(document["steps"], place, waits)}


def _untouched(step: Document, target: str, started: set[str]) -> bool:
    """Whether the step is not one of those that do something to the target; its first start stays."""
    ((word, said),) = step.items()
    if word == "start" and target in listed(said):
        first = target not in started
        started.add(target)
        return first or listed(said) != [target]
    return word not in _FAULTS or listed(said) != [target]


def _without_one(steps: list[Any], place: tuple[int, ...], waits: bool) -> list[Any]:
    """The steps without the fault at this place, and without the later step that undoes it.

    Args:
        steps: all of them.
        place: of the fault.
        waits: whether the waits between the two stay; they mostly say how long it lasts.
    """
    smaller = copy.deepcopy(steps)
    around, begin = beside(smaller, place)
    ((word, said),) = around[begin].items()
    ends = [{"heal": "all"}] if word in NETWORK else [{end: said} for end in _ENDS[word]]
    end = next((number for number in range(begin + 1, len(around)) if around[number] in ends), begin)
    between = [step for step in around[begin + 1 : end] if waits or word_of(step) != "wait"]
    # Whether the end of a fault of the network ends another one as well is seen below.
    around[begin : end + 1] = [*between, around[end]] if word in NETWORK and end > begin else between
    return without_idle_heals(smaller)


def with_fewer_messages(document: Document) -> Iterator[Document]:
    """Each sending with one message a queue, half of its messages, or one tag."""
    queues = {name: queues_of(document, name) for name in document["topics"]}
    for place, said in sends(document):
        topic = said["topic"]
        for smaller in _smaller_sends(said, queues[topic]):
            yield replaced(document, place, {"send": smaller})


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
                ("tag" if key == "tags" else key): (tag if key == "tags" else item)
                for key, item in said.items()
            }
    yield from without_each(said, ("every", "properties", "may_fail", "per_queue", "hash_key", "producer"))


def with_fewer_queues(document: Document) -> Iterator[Document]:
    """Topics with one queue, or half as many; sendings with `per_queue` have fewer messages then."""
    for topic, said in document["topics"].items():
        number = said.get("queues", 4)
        for size in dict.fromkeys((1, 2, number // 2)):
            if 0 < size < number:
                smaller = copy.deepcopy(document)
                smaller["topics"][topic] = {**said, "queues": size}
                for _, send in sends(smaller):
                    if send["topic"] == topic and "per_queue" in send:
                        send["count"] = send["per_queue"] * queues_of(smaller, topic)
                yield smaller


def with_shorter_waits(document: Document) -> Iterator[Document]:
    """Half of a wait; without it is a candidate of `without_steps`."""
    for place, step in placed(document["steps"]):
        if "wait" not in step:
            continue
        said = step["wait"] if isinstance(step["wait"], dict) else {"duration": step["wait"]}
        half_ms = parse_duration_ms(said["duration"]) // 2 // _SHORTEST_MS * _SHORTEST_MS
        if half_ms:
            yield replaced(document, place, {"wait": {**said, "duration": duration_text(half_ms)}})


def with_fewer_properties(document: Document) -> Iterator[Document]:
    """Without what needn't be said: of a consumer, of the cluster, of the scenario."""
    for name, said in document["consumers"].items():
        kept = ("group", "subscribe")
        for smaller in without_each(said, [key for key in said if key not in kept]):
            yield {**document, "consumers": {**document["consumers"], name: smaller}}
        if len(said["subscribe"]) > 1:
            for topic in said["subscribe"]:
                fewer = {item: expression for item, expression in said["subscribe"].items() if item != topic}
                yield {**document, "consumers": {**document["consumers"], name: {**said, "subscribe": fewer}}}
    cluster = document.get("cluster", {})
    if len(listed(cluster.get("brokers"))) > 1:
        yield _on_one_broker(document)
    yield from without_each(document, ("cluster", "workers", "producer", "producers", "groups"))
    if len(cluster) > 1:
        for smaller in without_each(cluster, [key for key in cluster if key != "brokers"]):
            yield {**document, "cluster": smaller}


def _on_one_broker(document: Document) -> Document:
    smaller = copy.deepcopy(document)
    gone = smaller["cluster"]["brokers"][1:]
    del smaller["cluster"]["brokers"]
    if not smaller["cluster"]:
        del smaller["cluster"]
    for _, send in sends(smaller):
        if "per_queue" in send:
            send["count"] = send["per_queue"] * queues_of(smaller, send["topic"])
    smaller["steps"] = steps_without(smaller["steps"], set(gone))
    for section in CHECKS:
        if section in smaller:
            smaller[section] = [item for item in smaller[section] if not names_in(item) & set(gone)]
    return smaller


REDUCTIONS: Mapping[str, Reduction] = {
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
"""By what there is less of, in the order in which they are tried: what makes most smaller first."""
