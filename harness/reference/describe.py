"""What the language reference and `rocketchaos explain` say of a model, taken from the model itself."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rocketchaos.harness.language.words import Refers, Word
from rocketchaos.harness.reference.schema import json_schema
from rocketchaos.harness.scenario.place_models import of_own_keys

_KINDS = {
    "topic": "a topic",
    "group": "a group",
    "consumer": "a consumer",
    "variable": "a variable, `$holder`",
    "node": "a node of the cluster",
    "hand-made": "a hand-made client",
    "pull": "a `pull` step, by its name",
    "asked": "an `ask` step, by its name",
    "client-pull": "a `client-pull` step, by its name",
    "mqadmin": "an `mqadmin` step, by its name",
    "broker": "a broker",
    "account": "an account of the cluster",
    "producer": "`producer`",
    "moment": "an observation",
    "tag-of-variable": "a tag, or `$holder.tag`",
}


OWN_KEY = "…"
"""Stands for a key that the user names, as the variable of `bind`."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a mapping in a scenario file."""

    name: str
    value: str
    """Its possible values."""
    meaning: str
    """What it means, whether it is needed, and its default."""
    choices: tuple[str, ...] = ()
    """The words that its value is one of, if any."""


def documentation(model: type) -> str:
    """A class's docstring."""
    return inspect.cleandoc(model.__doc__ or "")


def keys_of(model: type[BaseModel], without: type[BaseModel] | None = None) -> list[Key]:
    """The keys of the mapping behind a model; `without` those that another one has too."""
    left_out = set(without.model_fields) if without is not None else set()
    fields = {name: field for name, field in model.model_fields.items() if name not in left_out}
    definition = _definition(model)
    return [_key(field.alias or name, field, definition["properties"]) for name, field in fields.items()]


def models_inside(model: type[BaseModel]) -> dict[type[BaseModel], str]:
    """The models of mappings within its fields, which no word stands for, each with the key of the first."""
    annotations = [(field.alias or name, field.annotation) for name, field in model.model_fields.items()]
    annotations.append((OWN_KEY, of_own_keys(model)))
    found: dict[type[BaseModel], str] = {}
    for key, annotation in annotations:
        for inner in _models_in(annotation):
            found.setdefault(inner, key)
    return found


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields.values()
        # Not what merely holds a word: a step within a step, whose models are described by themselves.
        if not any(
            isinstance(field.annotation, type) and issubclass(field.annotation, Word) for field in fields
        ):
            yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)


@cache
def _definitions() -> Mapping[str, Any]:
    schema = json_schema()
    return {**schema["$defs"], "Scenario": schema}


def _definition(model: type[BaseModel]) -> Mapping[str, Any]:
    definitions = _definitions()
    # The base of words has no definition: its keys are described alike in each of them.
    names = (name for item in (model, *model.__subclasses__()) for name in _names_in_schema(item))
    schema: Mapping[str, Any] = next(definitions[name] for name in names if name in definitions)
    return next((item for item in schema.get("anyOf", ()) if "properties" in item), schema)


def _names_in_schema(model: type[BaseModel]) -> tuple[str, str]:
    """As pydantic calls it: by its class, or where two classes have one name with its module."""
    return model.__name__, f"{model.__module__}.{model.__qualname__}".replace(".", "__")


def _key(name: str, field: FieldInfo, properties: Mapping[str, Any]) -> Key:
    schema = properties[name]
    needed = "**needed**; " if field.is_required() else ""
    return Key(
        name=name,
        value=_references(field, schema) or _value(schema),
        meaning=f"{needed}{field.description}{_default(schema)}",
        choices=tuple(_choices(schema)),
    )


def _choices(schema: Mapping[str, Any]) -> Iterator[str]:
    """The words among which a value is chosen, even if other values or a list are possible too."""
    yield from (item for item in schema.get("enum", [schema.get("const")]) if isinstance(item, str))
    items = schema.get("items")
    for inner in (*schema.get("anyOf", ()), *([items] if isinstance(items, Mapping) else ())):
        yield from _choices(inner)


def _default(schema: Mapping[str, Any]) -> str:
    default = schema.get("default")
    if default in (None, "", []) or isinstance(default, dict):
        return ""
    values = default if isinstance(default, list) else [default]
    text = ", ".join(f"`{str(item).lower() if isinstance(item, bool) else item}`" for item in values)
    return f"; default {text}"


def _references(field: FieldInfo, schema: Mapping[str, Any]) -> str:
    """What a field's text refers to, where it does."""
    kinds = " or ".join(_KINDS[kind] for kind in _kinds_in(field.metadata, field.annotation))
    several = kinds and any(item.get("type") == "array" for item in schema.get("anyOf", ()))
    return f"{kinds}, or a list of them" if several else kinds


def _kinds_in(metadata: Any, annotation: Any) -> Iterator[str]:
    for mark in metadata:
        if isinstance(mark, Refers):
            yield from mark.kinds
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return
    for inner in getattr(annotation, "__args__", ()):
        yield from _kinds_in(getattr(inner, "__metadata__", ()), inner)


def _value(schema: Mapping[str, Any]) -> str:
    """The possible values, by their schema."""
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{item}`" for item in schema.get("enum", [schema.get("const")]))
    if "$ref" in schema:
        return _value(_definitions()[schema["$ref"].rpartition("/")[2]])
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        if any(choice.get("type") == "array" for choice in choices):
            return "list"
        return " or ".join(dict.fromkeys(_value(choice) for choice in choices))
    if schema.get("type") in ("integer", "number"):
        return _number(schema)
    if schema.get("type") == "string" and "ms|s|m|h" in schema.get("pattern", ""):
        return "duration"
    if schema.get("type") == "array":
        return "list"
    return {"string": "text", "boolean": "`true` or `false`", "object": "mapping"}[schema["type"]]


def _number(schema: Mapping[str, Any]) -> str:
    what = "whole number" if schema["type"] == "integer" else "number"
    low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    if "maximum" in schema:
        return f"{what}, {low:g} to {schema['maximum']:g}"
    return f"{what}, {low:g} or more"
