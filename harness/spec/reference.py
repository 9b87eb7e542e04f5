"""The language reference, `scenarios/LANGUAGE.md`, made from the models that read the scenarios.

To write it anew after a change: `python -m harness.spec.reference > scenarios/LANGUAGE.md`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from assertions import CHECKS
from assertions.base import Check
from harness.language import Refers, Word
from harness.scenario import ClusterNeeds, Consumer, Scenario, Topic
from harness.spec.schema import json_schema
from harness.steps import STEPS
from harness.steps.bind import Bind, Selector

_OPENING = """\
# The scenario language

Made from the models that read the scenarios, by `python -m harness.spec.reference`: don't edit it here.

A file is one scenario: one YAML mapping with the keys below. A wrong file is refused before anything starts,
with every mistake at its place. Plain words are text also where YAML 1.1 saw something else (`no`, `on`,
`1:30`, dates); there are no tags, anchors, aliases or repeated keys, and no key without a value. `*` and text
with `: ` in it need quotes. A duration is a number with its unit: `500ms`, `40s`, `1.5m`, `1h`.

A list with one entry may be written without the list.
"""
_KINDS = {
    "topic": "a topic",
    "group": "a group",
    "consumer": "a consumer",
    "variable": "a variable, `$holder`",
    "moment": "an observation",
    "tag-of-variable": "a tag, or `$holder.tag`",
}


def language_reference() -> str:
    """The whole reference, in Markdown."""
    schema = json_schema()
    definitions = {**schema["$defs"], "Scenario": schema}
    parts = [_OPENING]
    for model, heading in _PARTS.items():
        parts += [f"## {heading}\n", _doc(model), _table(model, definitions)]
    parts.append("## Steps\n")
    parts += [part for word in STEPS.values() for part in _word(word, definitions)]
    common = _table(Check, definitions | {"Check": definitions[next(iter(CHECKS.values())).__name__]})
    parts += ["## Checks\n", "Each of them also takes:\n", common]
    parts += [part for word in CHECKS.values() for part in _word(word, definitions, without=Check)]
    return "\n".join(part for part in parts if part)


_PARTS: Mapping[type[BaseModel], str] = {
    Scenario: "A scenario",
    Topic: "A topic",
    Consumer: "A consumer",
    ClusterNeeds: "The cluster",
}


def _word(
    word: type[Word], definitions: Mapping[str, Any], without: type[Word] | None = None
) -> Iterator[str]:
    yield f"### `{word.word}`\n"
    yield _doc(word)
    if word.shorthand is not None:
        yield f"Short: `{word.word}: …` is `{word.word}: {{{word.shorthand}: …}}`.\n"
    yield _table(word, definitions, set(without.model_fields) if without else set())
    if word is Bind:
        yield "Of the variable:\n"
        yield _table(Selector, definitions)


def _doc(model: type[BaseModel]) -> str:
    return inspect.cleandoc(model.__doc__ or "") + "\n"


def _table(model: type[BaseModel], definitions: Mapping[str, Any], without: set[str] | None = None) -> str:
    schema = definitions[model.__name__]
    schema = next((one for one in schema.get("anyOf", ()) if "properties" in one), schema)
    rows = []
    for name, field in model.model_fields.items():
        if name in (without or ()):
            continue
        key = field.alias or name
        property_ = schema["properties"][key]
        value = _references(field, property_) or _value(property_, definitions)
        needed = "**needed**; " if field.is_required() else ""
        meaning = f"{needed}{field.description}{_default(property_)}".replace("|", "\\|")
        rows.append(f"| `{key}` | {value} | {meaning} |")
    return "\n".join(["| key | value | meaning |", "|---|---|---|", *rows, ""]) if rows else ""


def _default(schema: Mapping[str, Any]) -> str:
    default = schema.get("default")
    if default in (None, "", []) or isinstance(default, dict):
        return ""
    return f"; `{str(default).lower() if isinstance(default, bool) else default}` unless told"


def _references(field: FieldInfo, schema: Mapping[str, Any]) -> str:
    """What a field's text refers to, where it does."""
    kinds = " or ".join(_KINDS[kind] for kind in _kinds_in(field.metadata, field.annotation))
    several = kinds and any(one.get("type") == "array" for one in schema.get("anyOf", ()))
    return f"{kinds}, or a list of them" if several else kinds


def _kinds_in(metadata: Any, annotation: Any) -> Iterator[str]:
    for mark in metadata:
        if isinstance(mark, Refers):
            yield from mark.kinds
    for inner in getattr(annotation, "__args__", ()):
        yield from _kinds_in(getattr(inner, "__metadata__", ()), inner)


def _value(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """What a value may be, by its schema."""
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{one}`" for one in schema.get("enum", [schema.get("const")]))
    if "$ref" in schema:
        return _value(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        if any(one.get("type") == "array" for one in schema["anyOf"]):
            return "list"
        return " or ".join(_value(one, definitions) for one in schema["anyOf"])
    if schema.get("type") == "integer":
        return _whole_number(schema)
    if schema.get("type") == "string" and "ms|s|m|h" in schema.get("pattern", ""):
        return "duration"
    if schema.get("type") == "array":
        return "list"
    return {"string": "text", "boolean": "`true` or `false`", "object": "mapping"}[schema["type"]]


def _whole_number(schema: Mapping[str, Any]) -> str:
    low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    if "maximum" in schema:
        return f"whole number, {low} to {schema['maximum']}"
    return f"whole number, {low} or more"


if __name__ == "__main__":
    sys.stdout.write(language_reference())
