"""The kinds of events of a history, `docs/events.md`, made from the catalogue `harness.core.events`.

To update it after a change: `python -m rocketchaos.harness.reference.events > docs/events.md`.
"""

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields as fields_of

from rocketchaos.harness.core.events import SUBJECTS, base
from rocketchaos.harness.core.events.base import WRITERS, Body, Part

_OPENING = """\
# Events of a history

Made from `harness/core/events` by `python -m rocketchaos.harness.reference.events`: don't edit it.

`events.jsonl` has one event per line:

| field | type | meaning |
|---|---|---|
| `schema_version` | integer | the version of the format |
| `n` | integer | the event's number, which is that of its line, counted from 1 |
| `mono_ns` | integer | CLOCK_MONOTONIC in ns, comparable between all processes of one host |
| `wall_ms` | integer | Unix time in ms |
| `run` | text | the run's token |
| `node` | text | who saw it |
| `kind` | text | one of those below |
| `data` | mapping | what the kind says |

Topics, groups and consumers appear under the names that the scenario gives them. A field that is not required may
be missing: where it says nothing, or in the folders of older versions. Readers ignore kinds and fields that they
don't know. Units are in the meanings.
"""
_WORDS = {
    "str": "text",
    "int": "integer",
    "Int32": "integer",
    "float": "number",
    "bool": "true or false",
    "None": "null",
}


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an event's data, or of a mapping in it."""

    name: str
    type: str
    required: bool
    meaning: str


def events_reference() -> str:
    """The whole document, in Markdown."""
    parts = [_OPENING, "## Who writes them\n"]
    parts.append("\n".join(f"- *{name}*: {who}" for name, who in WRITERS.items()) + "\n")
    for module in SUBJECTS:
        parts.append(f"## {_documentation(module).removeprefix('Events about ').rstrip('.').capitalize()}\n")
        parts += (_section(item) for item in _classes(module) if issubclass(item, Body) and item.kind)
    parts.append("## Mappings within the data\n")
    parts += (_section(item) for module in (base, *SUBJECTS) for item in _classes(module) if _is_part(item))
    return "\n".join(parts)


def described(of: type[Struct]) -> list[Field]:
    """The fields of a kind or of a mapping, in their order; each with what its docstring says."""
    texts = {name: texts for owner in reversed(of.__mro__) for name, texts in _texts(owner).items()}
    return [
        Field(
            name=field.encode_name,
            type=_in_words(texts[field.name][0]),
            required=field.default is NODEFAULT and field.default_factory is NODEFAULT,
            meaning=texts[field.name][1],
        )
        for field in fields_of(of)
    ]


def _classes(module: ModuleType) -> Iterator[type[Body | Part]]:
    for type_ in vars(module).values():
        if inspect.isclass(type_) and issubclass(type_, Body | Part) and type_.__module__ == module.__name__:
            yield type_


def _is_part(of: type[Body | Part]) -> bool:
    return issubclass(of, Part) and of is not Part


def _documentation(of: object) -> str:
    return (inspect.getdoc(of) or "").replace("\n\n", "\n").replace("\n", " ")


def _section(of: type[Body | Part]) -> str:
    writer = f" Written by *{of.node}*." if issubclass(of, Body) else ""
    name = of.kind if issubclass(of, Body) else of.__name__
    rows = [
        f"| `{item.name}` | {item.type} | {'yes' if item.required else 'no'} | {item.meaning} |"
        for item in described(of)
    ]
    table = ["| field | type | required | meaning |", "|---|---|---|---|", *rows, ""] if rows else [""]
    return "\n".join([f"### `{name}`\n", _documentation(of) + writer + "\n", *table]).rstrip("\n") + "\n"


@cache
def _texts(of: type) -> dict[str, tuple[str, str]]:
    """By field: the source of its type, and its docstring."""
    if not of.__module__.startswith("rocketchaos."):
        return {}
    (definition,) = ast.parse(inspect.getsource(of)).body
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for item, behind in zip(definition.body, [*definition.body[1:], None], strict=True):
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            text = ""
            if isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant):
                text = " ".join(str(behind.value.value).split())
            found[item.target.id] = ast.unparse(item.annotation), text
    return found


def _in_words(annotation: str) -> str:
    """`tuple[str, ...] | None` as `list of text, or null`."""
    return _type(ast.parse(annotation, mode="eval").body)


def _type(node: ast.expr) -> str:
    match node:
        case ast.BinOp(left=left, right=ast.Attribute()):  # `msgspec.UnsetType`: it may be missing
            return _type(left)
        case ast.BinOp(left=left, right=right):
            return f"{_type(left)}, or {_type(right)}"
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[element, *_])):
            return f"list of {_type(element)}"
        case ast.Subscript(slice=ast.Tuple(elts=[_, value])):
            return f"mapping of text to {_type(value)}"
        case ast.Constant(value=None):
            return "null"
        case ast.Name(id="Expression"):
            return "text, or mapping with `sql`"
    name = ast.unparse(node)
    return _WORDS.get(name, f"`{name}`")


if __name__ == "__main__":
    sys.stdout.write(events_reference())
