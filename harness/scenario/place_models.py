"""The model of a place in a scenario file: its allowed keys, and the descriptions of its fields."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rocketchaos.assertions import CHECKS
from rocketchaos.harness.core.model import SECTIONS as CHECK_SECTIONS
from rocketchaos.harness.language.words import Word
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.yaml_places import Path
from rocketchaos.harness.steps import STEPS

SECTIONS: Mapping[str, Mapping[str, type[Word]]] = {
    "steps": STEPS,
    **dict.fromkeys(CHECK_SECTIONS, CHECKS),
}
"""The words that each list of a scenario may hold."""


def one_of(section: str) -> str:
    """The word for an entry of a section."""
    return "step" if section == "steps" else "check"


def model_at(path: Path) -> type[BaseModel] | None:
    """The model of the mapping at a path, where one describes it."""
    if path and path[0] in SECTIONS:
        return _in_section(SECTIONS[str(path[0])], path[1:])
    return _below(Scenario, path)


def _in_section(words: Mapping[str, type[Word]], path: Path) -> type[BaseModel] | None:
    """The model at a path below a list of words. The index is missing if an entry stands for a list."""
    while path and isinstance(path[0], int):
        path = path[1:]
    word = words.get(str(path[0])) if path else None
    if word is None:
        return None
    nested, rest = getattr(word, "nested", None), path[1:]
    if nested is not None and rest and (rest[0] == nested or isinstance(rest[0], int)):
        return _in_section(words, rest[1:])
    return _below(word, rest)


def allowed_keys(model: type[BaseModel]) -> tuple[str, ...]:
    """The keys that its mapping may have in a file."""
    return tuple(field.alias or name for name, field in model.model_fields.items())


def field_at(path: Path) -> FieldInfo | None:
    """The field that a path leads to, where its last part is one."""
    model = model_at(path[:-1]) if path else None
    return _field(model, path[-1]) if model is not None else None


def _field(model: type[BaseModel], key: str | int) -> FieldInfo | None:
    for name, field in model.model_fields.items():
        if key in (name, field.alias):
            return field
    return None


def of_own_keys(model: type[BaseModel]) -> Any:
    """The annotation of keys of the user's own, as the variable of `bind`; None if a model takes none."""
    if model.model_config.get("extra") != "allow":
        return None
    return get_type_hints(model).get("__pydantic_extra__")


def _below(model: type[BaseModel], path: Path) -> type[BaseModel] | None:
    current: type[BaseModel] | None = model
    rest = list(path)
    while rest and current is not None:
        field = _field(current, rest.pop(0))
        if field is not None:
            annotation = field.annotation
        else:
            # A key of the user's own, as the variable of `bind`; its model stands in the extras' annotation.
            annotation = of_own_keys(current)
            annotation = get_args(annotation)[1] if get_args(annotation) else None
        if get_origin(annotation) in (dict, tuple, list):
            if not rest:
                return None
            rest.pop(0)
        current = next(_models_in(annotation), None)
    return current


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)
