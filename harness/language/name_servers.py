"""Several name servers: their names, and which brokers register with which of them."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from rocketchaos.harness.language.words import as_tuple

NAMESERVER = "nameserver"
"""The name of the first name server's node; the others are `nameserver-2` and so on. Brokers can't have it."""
MOST = 4

NameServerNames = Annotated[
    tuple[str, ...],
    BeforeValidator(as_tuple),
    Field(min_length=1),
    WithJsonSchema(
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
    ),
]
"""Name servers: one, or a list."""


def name_server_names(count: int) -> tuple[str, ...]:
    """The nodes of this many name servers."""
    return (NAMESERVER, *(f"{NAMESERVER}-{number}" for number in range(2, count + 1)))


def is_name_server(node: str) -> bool:
    """Whether a node of this name is a name server."""
    return node == NAMESERVER or node.startswith(f"{NAMESERVER}-")


def registration_problem(
    count: int, registers_with: Mapping[str, Sequence[str]], brokers: Sequence[str]
) -> str | None:
    """Why brokers can't register so with that many name servers; None if they can."""
    known = name_server_names(count)
    for broker, chosen in registers_with.items():
        if broker not in brokers:
            return f"there is no broker `{broker}` that could register"
        for name in chosen:
            if name not in known:
                there = f"there is {known[0]}" if count == 1 else f"there are {' and '.join(known)}"
                return f"`{broker}` can't register with `{name}`: {there} (`name_servers: {count}`)"
    return None
