"""Whether every name that a scenario uses is defined, once, and before its use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pydantic import ValidationError

from rocketchaos.harness.core.nearest import clipped, listed, nearest
from rocketchaos.harness.language.consumer_spec import Consumer
from rocketchaos.harness.language.name_servers import is_name_server
from rocketchaos.harness.language.producer_spec import PRODUCER
from rocketchaos.harness.language.topic import DEAD_LETTERS, RETRY, SYSTEM_TOPIC, is_system_topic
from rocketchaos.harness.language.words import Reference, Word, of_a_variable, references
from rocketchaos.harness.scenario.diagnostics import Diagnostic
from rocketchaos.harness.scenario.model import Topic
from rocketchaos.harness.scenario.word_entries import Names, PlacedWord, all_words, flat, names_of
from rocketchaos.harness.scenario.yaml_places import Document, Path
from rocketchaos.harness.steps import Step
from rocketchaos.harness.steps.observe import Observe
from rocketchaos.harness.steps.repeat import Repeat

_TAG_OF_VARIABLE = re.compile(r"\$([a-z][a-z0-9-]*)\.tag")
_ONLY_ONCE = {
    "pull": "a pull",
    "asked": "a request",
    "client-pull": "a pull by a client",
    "mqadmin": "a command of mqadmin",
}
"""Kinds of names that only one step may give."""
_END = "end"
"""The observation that every run makes."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """The names that are defined at a word's place; None: unknown, because an invalid step may define them."""

    names: Names
    variables: Mapping[str, Path] | None
    """The variables that are already bound."""
    bound_later: Mapping[str, Path]
    beside: Mapping[str, Path]
    """The variables that another branch of a surrounding `parallel` binds."""
    moments: Mapping[str, Path] | None
    made: Mapping[str, Mapping[str, Path]] | None
    """Other names that steps define, by kind: hand-made clients, raw pulls, other raw requests."""


def check_references(document: Document) -> Iterator[Diagnostic]:
    """Every use of an undefined name, and every name with two meanings."""
    names, words = names_of(document), all_words(document)
    steps, complete = words["steps"]
    bound = _bound(steps)
    moments = {name: path for path, names_of_one in _moments(steps) for name in names_of_one}
    yield from _ambiguous_names(document, names)
    yield from _names_of_producers(document, names)
    yield from _subscriptions(document, names)
    yield from _configured_queues(document, names)
    yield from _repeated_moments(document, steps)
    known_moments = moments if complete else None
    made = _made(steps) if complete else None
    yield from _topics_on_brokers(document, names)
    yield from _name_servers_of_clients(document, names)
    yield from _accounts_of_clients(document, names)
    yield from _made_twice(document, names, steps)
    begin = _Scope(names, {} if complete else None, bound, {}, known_moments, made)
    yield from _of_steps(document, steps, begin)
    scope = replace(begin, variables=bound if complete else None, bound_later={})
    for section, (checks, _) in words.items():
        for placed in checks if section != "steps" else ():
            yield from _of_word(document, placed, scope)


def _of_steps(document: Document, steps: Iterable[PlacedWord], scope: _Scope) -> Iterator[Diagnostic]:
    """The mistakes in the names that steps use, in their order, inner steps included."""
    for placed in steps:
        yield from _of_word(document, placed, scope)
        for branch in placed.branches:
            others = _bound(inner for other in placed.branches if other is not branch for inner in other)
            yield from _of_steps(document, branch, replace(scope, beside={**scope.beside, **others}))
        if scope.variables is not None:
            scope = replace(scope, variables={**_bound([placed]), **scope.variables})


def _bound(steps: Iterable[PlacedWord]) -> dict[str, Path]:
    """The variables that the steps bind, each with its first step."""
    bound: dict[str, Path] = {}
    for placed in flat(steps):
        for variable in placed.word.binds() if isinstance(placed.word, Step) else ():
            bound.setdefault(variable, placed.path)
    return bound


def _made(steps: Iterable[PlacedWord]) -> dict[str, dict[str, Path]]:
    """Names that steps define, other than variables and observations: by kind, each with its first step."""
    made: dict[str, dict[str, Path]] = {}
    for placed in flat(steps):
        for kind, name in placed.word.defines() if isinstance(placed.word, Step) else ():
            made.setdefault(kind, {}).setdefault(name, placed.path)
    return made


def _made_twice(document: Document, names: Names, steps: list[PlacedWord]) -> Iterator[Diagnostic]:
    """A request's name belongs to one request; a hand-made client's to all its heartbeats, and to nothing else."""
    for placed in flat(steps):
        for kind, name in placed.word.defines() if isinstance(placed.word, Step) else ():
            first = _made(steps)[kind][name]
            if kind in _ONLY_ONCE and first != placed.path:
                line = document.places.of(first, key=True).line
                message = f"there is {_ONLY_ONCE[kind]} `{name}` already, in line {line}"
                yield document.report(placed.path, message, key=True)
            taken = {**(names.consumers or {}), **(names.nodes or {})}
            if kind == "hand-made" and first == placed.path and name in taken:
                message = f"`{name}` is a consumer or a node: give the hand-made client another name"
                yield document.report(placed.path, message, key=True)


def _topics_on_brokers(document: Document, names: Names) -> Iterator[Diagnostic]:
    """The brokers that a topic names."""
    if names.brokers is None:
        return
    for path in (names.topics or {}).values():
        topic = document.value(path)
        on = topic.get("on", []) if isinstance(topic, dict) else []
        for index, broker in enumerate(on if isinstance(on, list) else [on]):
            if isinstance(broker, str) and broker not in names.brokers:
                message, near = _undefined("broker", broker, names.brokers)
                yield document.report(document.in_file((*path, "on", index)), message, near)


def _name_servers_of_clients(document: Document, names: Names) -> Iterator[Diagnostic]:
    """The name servers that clients name."""
    known = {name: path for name, path in (names.nodes or {}).items() if is_name_server(name)}
    if not known:
        return
    for path in (*(names.consumers or {}).values(), (PRODUCER,), *(names.producers or {}).values()):
        client = document.value(path) if path[0] in document.data else None
        given = client.get("name_servers", []) if isinstance(client, dict) else []
        for index, name in enumerate(given if isinstance(given, list) else [given]):
            if isinstance(name, str) and name not in known:
                message, near = _undefined("name server", name, known)
                yield document.report(document.in_file((*path, "name_servers", index)), message, near)


def _accounts_of_clients(document: Document, names: Names) -> Iterator[Diagnostic]:
    """The accounts that clients name."""
    if names.accounts is None:
        return
    for path in (*(names.consumers or {}).values(), (PRODUCER,), *(names.producers or {}).values()):
        client = document.value(path) if path[0] in document.data else None
        name = client.get("account") if isinstance(client, dict) else None
        if isinstance(name, str) and name not in names.accounts:
            message, near = _undefined("account", name, names.accounts)
            yield document.report((*path, "account"), message, near)


def _ambiguous_names(document: Document, names: Names) -> Iterator[Diagnostic]:
    for name, path in (names.consumers or {}).items():
        if name == PRODUCER:
            message = f"`{name}` is the name of the producer: give the consumer another name"
            yield document.report(path, message, key=True)
        if name in (names.producers or {}):
            message = f"`{name}` is a consumer and a producer: give one of them another name"
            yield document.report(path, message, key=True)
        if name in (names.nodes or {}):
            message = f"`{name}` is a consumer and a node of the cluster: give the consumer another name"
            yield document.report(path, message, key=True)


def _names_of_producers(document: Document, names: Names) -> Iterator[Diagnostic]:
    """A further producer's name stands for nothing else in steps."""
    for name, path in (names.producers or {}).items():
        if name == PRODUCER or name in {**(names.nodes or {}), **(names.groups or {})}:
            what = "the usual producer" if name == PRODUCER else "a node of the cluster or a group"
            message = f"`{name}` is {what} too: give this producer another name"
            yield document.report(path, message, key=True)


def _configured_queues(document: Document, names: Names) -> Iterator[Diagnostic]:
    """The ids of `by-config` that are beyond the queues of a topic."""
    counts = {topic: _queue_count(document.value(path)) for topic, path in (names.topics or {}).items()}
    for name, path in (names.consumers or {}).items():
        try:
            consumer = Consumer.model_validate(document.value(path))
        except ValidationError:
            continue
        for topic in consumer.subscribe:
            count = counts.get(topic)
            for index, number in enumerate(consumer.queues or ()):
                if count is not None and number >= count:
                    message = (
                        f"{topic} has the queues 0 to {count - 1}: `{name}` can't own queue {number} of it"
                    )
                    yield document.report(document.in_file((*path, "queues", index)), message)


def _queue_count(topic: object) -> int | None:
    """The number of queues in a topic's data; None: it isn't valid."""
    try:
        return Topic.model_validate(topic).all_queues
    except ValidationError:
        return None


def _subscriptions(document: Document, names: Names) -> Iterator[Diagnostic]:
    for path in (names.consumers or {}).values():
        consumer = document.value(path)
        subscribe = consumer.get("subscribe") if isinstance(consumer, dict) else None
        for topic, expression in subscribe.items() if isinstance(subscribe, dict) else ():
            known = topics_of(names)
            if known is not None and expression is not None and topic not in known:
                message, near = _undefined("topic", topic, names.topics or {})
                yield document.report((*path, "subscribe", topic), message, near, key=True)
        yield from _written_topic(document, names, path, consumer)


def _written_topic(document: Document, names: Names, path: Path, consumer: object) -> Iterator[Diagnostic]:
    """The topic into which a program writes what it has handled."""
    found = consumer
    for key in ("app", "sees", "topic"):
        found = found.get(key) if isinstance(found, dict) else None
    known = topics_of(names)
    if isinstance(found, str) and known is not None and found not in known:
        message, near = _undefined("topic", found, names.topics or {})
        yield document.report((*path, "app", "sees", "topic"), message, near)


def _moments(steps: Iterable[PlacedWord], times: int = 0) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Every `observe`, with the names under which checks find it; `times` is that of the `repeat` around it."""
    for placed in steps:
        word = placed.word
        if isinstance(word, Observe):
            yield placed.path, (word.name, *(f"{word.name}-{number}" for number in range(1, times + 1)))
        for branch in placed.branches:
            yield from _moments(branch, word.times if isinstance(word, Repeat) else times)


def _repeated_moments(document: Document, steps: list[PlacedWord]) -> Iterator[Diagnostic]:
    first: dict[str, Path] = {}
    for place, names in _moments(steps):
        path = document.in_file((*place, "name"))
        taken = next((name for name in names if name in first), None)
        if names[0] == _END:
            yield document.report(path, "every run makes the observation `end` itself, after the last step")
        elif taken is not None:
            line = document.places.of(first[taken]).line
            yield document.report(path, f"there is an observation `{taken}` already, in line {line}")
        for name in names:
            first.setdefault(name, path)


def _of_word(document: Document, placed: PlacedWord, scope: _Scope) -> Iterator[Diagnostic]:
    for reference in references(placed.word):
        found = _of_another_key(placed.word, reference, scope) or _wrong(document, reference, scope)
        if found is not None:
            path = document.in_file((*placed.path, *reference.path))
            yield document.report(path, *found)


def _of_another_key(word: Word, reference: Reference, scope: _Scope) -> tuple[str, str | None] | None:
    """The mistake where `consumer` names what another key of the word takes: `log: {consumer: broker-a}`."""
    consumers = scope.names.consumers
    if reference.path != ("consumer",) or consumers is None or reference.text in consumers:
        return None
    producers = {PRODUCER: (), **(scope.names.producers or {})}
    for key, known in (("node", scope.names.nodes or {}), ("producer", producers)):
        if reference.text in known and key in type(word).model_fields:
            return f"`{reference.text}` is no consumer: write `{key}: {reference.text}`", None
    return None


def _wrong(document: Document, reference: Reference, scope: _Scope) -> tuple[str, str | None] | None:
    """The mistake in one use of a name, and the nearest name that exists."""
    text, kinds = reference.text, reference.kinds
    if "tag-of-variable" in kinds:
        if not of_a_variable(text):
            return None
        found = _TAG_OF_VARIABLE.fullmatch(text)
        if found is None and text[1:] in (scope.variables or {}):
            return f"`{text}` is a consumer, but this needs a tag", f"{text}.tag"
        if found is None:
            return f"`{clipped(text)}` is no tag: write `$NAME.tag` for the tag of the variable `$NAME`", None
        return _unbound(document, found[1], scope, ".tag")
    if of_a_variable(text) and "variable" in kinds:
        return _unbound(document, text[1:], scope, "")
    if of_a_variable(text):
        return f"`{clipped(text)}`: a variable can't stand for a {' or '.join(kinds)}", None
    if {"consumer", "group"} <= set(kinds) and (message := _two_meanings(document, text, scope.names)):
        return message, None
    return _unknown(text, kinds, scope)


def _two_meanings(document: Document, name: str, names: Names) -> str:
    """Where a name stands for a consumer and for a group of others too; empty: it has one meaning."""
    consumers = names.consumers or {}
    if name not in consumers or name not in (names.groups or {}):
        return ""
    members = [other for other, path in consumers.items() if document.value((*path, "group")) == name]
    if members == [name]:
        return ""
    numbered = (f"{name}-{number}" for number in range(1, len(consumers) + 2))
    free = next(other for other in numbered if other not in consumers)
    of_group = f"with the members {' and '.join(members)}" if members else "without members"
    return (
        f"`{name}` is a consumer, and also a group {of_group}: to say which one is meant here, give the consumer "
        f"another name, for example `{free}`"
    )


def _unbound(document: Document, variable: str, scope: _Scope, suffix: str) -> tuple[str, str | None] | None:
    if scope.variables is None or variable in scope.variables:
        return None
    name = f"${clipped(variable)}"
    if variable in scope.beside:
        line = document.places.of(scope.beside[variable]).line
        return f"`{name}` is bound in another branch of this `parallel`, in line {line}", None
    if variable in scope.bound_later:
        line = document.places.of(scope.bound_later[variable]).line
        return f"`{name}` is bound only later, in line {line}", None
    if variable.removesuffix(".tag") in scope.variables:
        return f"`{name}` is a tag, but this needs a consumer", "$" + variable.removesuffix(".tag")
    if not scope.variables:
        return f"there is no variable `{name}`: no `bind` step binds one before", None
    near = nearest(variable, scope.variables)
    known = listed([f"${item}" for item in scope.variables])
    message = f"there is no variable `{name}`" + ("" if near else f": there are {known}")
    return message, f"${near}{suffix}" if near else None


def _unknown(text: str, kinds: tuple[str, ...], scope: _Scope) -> tuple[str, str | None] | None:
    by_kind: dict[str, Mapping[str, Path] | None] = {
        "topic": topics_of(scope.names),
        "group": scope.names.groups,
        "consumer": scope.names.consumers,
        "moment": None if scope.moments is None else {**scope.moments, _END: ()},
        "node": scope.names.nodes,
        "broker": _without_nameserver(scope.names.nodes),
        "account": scope.names.accounts,
        "producer": None if scope.names.producers is None else {PRODUCER: (), **scope.names.producers},
        **{
            kind: None if scope.made is None else scope.made.get(kind, {})
            for kind in ("hand-made", *_ONLY_ONCE)
        },
    }
    defined: dict[str, Path] = {}
    for kind in kinds:
        known = by_kind.get(kind, {})
        if known is None:
            return None
        defined |= known
    if text in defined:
        return None
    what = " or ".join(_KINDS.get(kind, kind) for kind in kinds if kind != "variable")
    for kind in ("node", "consumer", "group", "topic"):
        if text in (by_kind[kind] or {}):
            back = " that `restart` starts again" if kind == "node" and "consumer" in kinds else ""
            return (
                f"there is no {what} `{text}`, which is a {_KINDS.get(kind, kind)}{back}{_known(defined)}",
                None,
            )
    return _undefined(what, text, defined)


_KINDS = {
    "moment": "observation",
    "node": "node of the cluster",
    "hand-made": "hand-made client",
    "asked": "request",
    "client-pull": "pull by a client",
    "mqadmin": "command of mqadmin",
}


def topics_of(names: Names) -> Mapping[str, Path] | None:
    """All topics: the scenario's own, and its groups' for retries and dead letters."""
    if names.topics is None or names.groups is None:
        return None
    of_groups = {
        f"{prefix}{group}": path for group, path in names.groups.items() for prefix in (RETRY, DEAD_LETTERS)
    }
    return {**names.topics, **(of_groups if names.topics else {})}


def _without_nameserver(nodes: Mapping[str, Path] | None) -> Mapping[str, Path] | None:
    return None if nodes is None else {name: path for name, path in nodes.items() if not is_name_server(name)}


def _undefined(what: str, name: str, defined: Mapping[str, Path]) -> tuple[str, str | None]:
    if what == "topic" and is_system_topic(name):
        return f"there is no topic `{name}`{SYSTEM_TOPIC.format(name)}", None
    near = nearest(name, defined)
    known = _known(defined) if near is None else ""
    return f"there is no {what} `{clipped(name)}`{known}", near


def _known(defined: Mapping[str, Path]) -> str:
    return f": there {'are' if len(defined) > 1 else 'is'} {listed(defined)}" if defined else ""
