"""The JSON Schema of scenario files, by which editors complete and check them; made from the models."""

import inspect
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from rocketchaos.assertions import CHECKS
from rocketchaos.harness.language.words import holder_of
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.place_models import SECTIONS, one_of
from rocketchaos.harness.steps import STEPS

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_OWN_KEYS = ("properties", "patternProperties", "$defs")
"""Where the keys are names and not words of JSON Schema."""


def json_schema() -> dict[str, Any]:
    """The schema, draft 2020-12, without `$id`.

    Names that refer to others, the order of steps and what a word's own rules ask for are not in it.
    """
    schema = _as_yaml_states(_of_the_models())
    for name, property_ in schema["properties"].items():
        if property_.get("type") == "array":
            schema["properties"][name] = _one_or_many(property_)
    for step in STEPS.values():
        if step.nested is not None:
            _with_short_lists(schema["$defs"][step.__name__], step.nested)
    for section, words in SECTIONS.items():
        for word, model in words.items():
            holder = schema["$defs"][f"{one_of(section)}__{word}"]
            holder["properties"][word]["description"] = inspect.cleandoc(model.__doc__ or "")
    return {"$schema": _DIALECT, **schema}


def _of_the_models() -> dict[str, Any]:
    """The schema of a scenario, with the words to which its lists refer."""
    holders: list[type[BaseModel]] = [
        holder_of(word, model, one_of(section))
        for section, words in (("steps", STEPS), ("anomaly", CHECKS))
        for word, model in words.items()
    ]
    all_models: list[type[BaseModel]] = [Scenario, *holders]
    models: list[tuple[type[BaseModel], JsonSchemaMode]] = [(model, "validation") for model in all_models]
    _, together = models_json_schema(models, by_alias=True)
    definitions = together["$defs"]
    scenario: dict[str, Any] = definitions.pop("Scenario")
    return {"$defs": definitions, **scenario}


def _with_short_lists(definition: dict[str, Any], nested: str) -> None:
    """Lists of steps within a step, in whose places a single step may stand."""
    for schema in definition.get("anyOf", [definition]):
        lists = schema["properties"][nested] if "properties" in schema else schema
        if "array" in str(lists["items"].get("type")):
            lists["items"] = _one_or_many(lists["items"])
        else:
            schema["properties"][nested] = _one_or_many(lists)


def _one_or_many(array: dict[str, Any]) -> dict[str, Any]:
    """A list, or in its place its only entry."""
    common: dict[str, Any] = {
        key: array.pop(key) for key in ("title", "description", "default") if key in array
    }
    return {**common, "anyOf": [array, array["items"]]}


def _as_yaml_states(schema: Any, names: bool = False) -> Any:
    """The schema as far as files differ from models: nothing is null, durations have units, keys are known."""
    if isinstance(schema, list):
        return [_as_yaml_states(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    stated = {
        key: value
        if key in ("default", "enum", "const") and not names
        else _as_yaml_states(value, key in _OWN_KEYS)
        for key, value in schema.items()
    }
    return stated if names else _without_null(_with_units(_closed(stated)))


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """An optional field is left out, never null."""
    if "default" in schema and schema["default"] is None:
        del schema["default"]
    choices = schema.get("anyOf")
    if not choices or {"type": "null"} not in choices:
        return schema
    rest = [choice for choice in choices if choice != {"type": "null"}]
    del schema["anyOf"]
    return {**rest[0], **schema} if len(rest) == 1 else {"anyOf": rest, **schema}


def _with_units(schema: dict[str, Any]) -> dict[str, Any]:
    """A duration's default is written as in a file."""
    default = schema.get("default")
    if isinstance(default, int) and schema.get("type") == "string":
        schema["default"] = duration(default)
    return schema


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """A mapping whose keys follow a pattern has no others."""
    if "patternProperties" in schema:
        schema.setdefault("additionalProperties", False)
    return schema


def duration(milliseconds: int) -> str:
    """A duration as a file has it, in its largest whole unit: `60s`, `1500ms`."""
    return f"{milliseconds // 1000}s" if milliseconds % 1000 == 0 else f"{milliseconds}ms"
