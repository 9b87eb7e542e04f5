"""Whether every name that a scenario uses is defined, once, and before its use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.language import Reference, references
from harness.spec.diagnostics import Diagnostic
from harness.spec.nearest import clipped, listed, nearest
from harness.spec.places import Document, Path
from harness.spec.words import Names, PlacedWord, all_words, names_of
from harness.steps import Step
from harness.steps.observe import Observe

_TAG_OF_VARIABLE = re.compile(r"\$([a-z][a-z0-9-]*)\.tag")
_END = "end"
"""The observation that is made by itself."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """What is defined where a word stands; None: not known, for a step not understood may define it."""

    names: Names
    variables: Mapping[str, Path] | None
    """Those that are bound already."""
    bound_later: Mapping[str, Path]
    moments: Mapping[str, Path] | None


def check_references(document: Document) -> Iterator[Diagnostic]:
    """Every use of an undefined name, and every name with two meanings."""
    names, words = names_of(document), all_words(document)
    steps, complete = words["steps"]
    bound = _bound(steps)
    moments = {placed.word.name: placed.path for placed in steps if isinstance(placed.word, Observe)}
    yield from _ambiguous_names(document, names)
    yield from _subscriptions(document, names)
    yield from _repeated_moments(document, steps)
    so_far: dict[str, Path] = {}
    for placed in steps:
        scope = _Scope(names, dict(so_far) if complete else None, bound, moments if complete else None)
        yield from _of_word(document, placed, scope)
        so_far |= _bound([placed])
    scope = _Scope(names, bound if complete else None, {}, moments if complete else None)
    for section, (checks, _) in words.items():
        for placed in checks if section != "steps" else ():
            yield from _of_word(document, placed, scope)


def _bound(steps: list[PlacedWord]) -> dict[str, Path]:
    """The variables that the steps bind, each with the first that does."""
    bound: dict[str, Path] = {}
    for placed in steps:
        for variable in placed.word.binds() if isinstance(placed.word, Step) else ():
            bound.setdefault(variable, placed.path)
    return bound


def _ambiguous_names(document: Document, names: Names) -> Iterator[Diagnostic]:
    for name, path in (names.consumers or {}).items():
        if name in (names.groups or {}):
            message = f"`{name}` is a consumer and a group: give one of them another name"
            yield document.report(path, message, key=True)


def _subscriptions(document: Document, names: Names) -> Iterator[Diagnostic]:
    for path in (names.consumers or {}).values():
        consumer = document.value(path)
        subscribe = consumer.get("subscribe") if isinstance(consumer, dict) else None
        for topic, expression in subscribe.items() if isinstance(subscribe, dict) else ():
            if names.topics is not None and expression is not None and topic not in names.topics:
                message, near = _undefined("topic", topic, names.topics)
                yield document.report((*path, "subscribe", topic), message, near, key=True)


def _repeated_moments(document: Document, steps: list[PlacedWord]) -> Iterator[Diagnostic]:
    first: dict[str, Path] = {}
    for placed in steps:
        if not isinstance(placed.word, Observe):
            continue
        name, path = placed.word.name, document.in_file((*placed.path, "name"))
        if name == _END:
            yield document.report(path, "the observation `end` is made by itself after the last step")
        elif name in first:
            line = document.places.of(first[name]).line
            yield document.report(path, f"there is an observation `{name}` already, in line {line}")
        first.setdefault(name, path)


def _of_word(document: Document, placed: PlacedWord, scope: _Scope) -> Iterator[Diagnostic]:
    for reference in references(placed.word):
        found = _wrong(document, reference, scope)
        if found is not None:
            path = document.in_file((*placed.path, *reference.path))
            yield document.report(path, *found)


def _wrong(document: Document, reference: Reference, scope: _Scope) -> tuple[str, str | None] | None:
    """What is wrong with one use of a name, and the nearest name that exists."""
    text, kinds = reference.text, reference.kinds
    if "tag-of-variable" in kinds:
        if not text.startswith("$"):
            return None
        found = _TAG_OF_VARIABLE.fullmatch(text)
        if found is None and text[1:] in (scope.variables or {}):
            return f"`{text}` is a consumer, and a tag is needed here", f"{text}.tag"
        if found is None:
            return f"`{clipped(text)}` is no tag: write `$NAME.tag` for the tag of the variable `$NAME`", None
        return _unbound(document, found[1], scope, ".tag")
    if text.startswith("$") and "variable" in kinds:
        return _unbound(document, text[1:], scope, "")
    if text.startswith("$"):
        return f"`{clipped(text)}`: a variable can't stand for a {' or '.join(kinds)}", None
    return _unknown(text, kinds, scope)


def _unbound(document: Document, variable: str, scope: _Scope, suffix: str) -> tuple[str, str | None] | None:
    if scope.variables is None or variable in scope.variables:
        return None
    name = f"${clipped(variable)}"
    if variable in scope.bound_later:
        line = document.places.of(scope.bound_later[variable]).line
        return f"`{name}` is bound only later, in line {line}", None
    if variable.removesuffix(".tag") in scope.variables:
        return f"`{name}` is a tag, and a consumer is needed here", "$" + variable.removesuffix(".tag")
    if not scope.variables:
        return f"there is no variable `{name}`: no `bind` step binds one before", None
    near = nearest(variable, scope.variables)
    known = listed([f"${one}" for one in scope.variables])
    message = f"there is no variable `{name}`" + ("" if near else f": there are {known}")
    return message, f"${near}{suffix}" if near else None


def _unknown(text: str, kinds: tuple[str, ...], scope: _Scope) -> tuple[str, str | None] | None:
    by_kind: dict[str, Mapping[str, Path] | None] = {
        "topic": scope.names.topics,
        "group": scope.names.groups,
        "consumer": scope.names.consumers,
        "moment": None if scope.moments is None else {**scope.moments, _END: ()},
    }
    defined: dict[str, Path] = {}
    for kind in kinds:
        known = by_kind.get(kind, {})
        if known is None:
            return None
        defined |= known
    if text in defined:
        return None
    what = " or ".join("observation" if kind == "moment" else kind for kind in kinds if kind != "variable")
    return _undefined(what, text, defined)


def _undefined(what: str, name: str, defined: Mapping[str, Path]) -> tuple[str, str | None]:
    near = nearest(name, defined)
    known = f": there is {listed(defined)}" if defined and near is None else ""
    if len(defined) > 1:
        known = known.replace("there is", "there are", 1)
    return f"there is no {what} `{clipped(name)}`{known}", near
