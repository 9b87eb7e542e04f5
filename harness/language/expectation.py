"""What a scenario expects: one outcome, or one for each client and each range of RocketMQ's versions. Pure."""

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.rocketmq import version_range
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS
from rocketchaos.harness.rocketmq.version_range import contains

ExpectedWord = Literal["reproduced", "not-reproduced", "measured"]
_WORDS = ("reproduced", "not-reproduced", "measured")
PROGRAM = "app"
"""The key for a program of the user's, whichever kind it is."""
MEASURED = "measured"
"""Nothing is expected: what is a race, or isn't known, is recorded and not judged."""


def label_of(clients: str) -> str:
    """The label of some clients, by which expectations know them: their kinds in order, `java+python`.

    A version is no part of it: `java` is the Java client in every version.
    """
    kinds = (part.partition("@")[0].strip() for part in clients.split("+"))
    return "+".join(sorted(set(filter(None, kinds))))


def is_label(text: str) -> bool:
    """Whether a text is the label of some clients."""
    return text == label_of(text) and set(text.split("+")) <= set(CLIENT_KINDS)


def is_range(key: str) -> bool:
    """Whether a key of `expected` is a range of versions, and not a client."""
    return bool(key.strip(" ,")) and version_range.is_range(key)


def _a_key(text: str) -> str:
    """A client, several that share a group, or a range of versions.

    Raises:
        PydanticCustomError: it is neither.
    """
    if not is_range(text) and not is_label(text):
        raise PydanticCustomError(
            "expected_key", "`{text}` is no client and no range of versions", {"text": text}
        )
    return text


def meant_by(key: str, near: Callable[[str], str | None]) -> str | None:
    """The label that a wrong key was probably meant to be: each of its clients is `near` one that there is."""
    kinds = [near(part.partition("@")[0].strip()) for part in key.split("+")]
    return None if None in kinds else label_of("+".join(filter(None, kinds)))


def never_fitting(expected: str | Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Keys below keys that speak of the same dimension as those: as (outer, inner)."""
    for key, below in expected.items() if isinstance(expected, Mapping) else ():
        for inner in below if isinstance(below, Mapping) else ():
            if is_range(inner) == is_range(key):
                yield key, inner


_KIND_NAMES = "|".join(CLIENT_KINDS)
_KEY_PATTERN = rf"^(({_KIND_NAMES})(\+({_KIND_NAMES}))*|\s*(~=|==|!=|<=|>=|<|>).*)$"
_WORD_SCHEMA: dict[str, Any] = {"type": "string", "enum": list(_WORDS)}


def _cells_schema(values: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": _KEY_PATTERN},
        "properties": dict.fromkeys(CLIENT_KINDS, values),
        "additionalProperties": values,
    }


_BELOW_SCHEMA = {"anyOf": [_WORD_SCHEMA, _cells_schema(_WORD_SCHEMA)]}


def _which(value: Any) -> str:
    return "cells" if isinstance(value, Mapping) else "word"


_Key = Annotated[str, AfterValidator(_a_key)]
_Below = Annotated[
    Annotated[ExpectedWord, Tag("word")]
    | Annotated[dict[_Key, ExpectedWord], Field(min_length=1), Tag("cells")],
    Discriminator(_which),
]
Expected = Annotated[
    Annotated[ExpectedWord, Tag("word")] | Annotated[dict[_Key, _Below], Field(min_length=1), Tag("cells")],
    Discriminator(_which),
    WithJsonSchema({"anyOf": [_WORD_SCHEMA, _cells_schema(_BELOW_SCHEMA)]}),
]
"""`reproduced`; or by clients, by ranges of versions, or by both."""


def expected_in(
    expected: str | Mapping[str, Any], own_label: str, client: str | None, rocketmq: str | None
) -> OutcomeKind | None:
    """The outcome that is expected of a cell of the matrix; None: none is stated, so that it is only measured.

    One word is about the scenario's own clients, in every version. In a mapping the first entry that matches
    wins.

    Args:
        expected: what the scenario states.
        own_label: its own clients, where no matrix gives it others.
        client: the cell's clients; None: not known, and then its own.
        rocketmq: the brokers' version; None: not known, and then no range has it.
    """
    label = own_label if client is None else label_of(client)
    if isinstance(expected, str):
        return _outcome(expected) if label == label_of(own_label) else None
    found = _first_that_fits(expected, label, rocketmq)
    return None if found is None else _outcome(found)


def _outcome(word: str) -> OutcomeKind | None:
    return None if word == MEASURED else OutcomeKind(word)


def _first_that_fits(cells: Mapping[str, Any], label: str, rocketmq: str | None) -> str | None:
    for key, value in cells.items():
        if not _fits(key, label, rocketmq):
            continue
        found = value if isinstance(value, str) else _first_that_fits(value, label, rocketmq)
        if found is not None:
            return found
    return None


def _fits(key: str, label: str, rocketmq: str | None) -> bool:
    if is_range(key):
        return rocketmq is not None and contains(key, rocketmq)
    return fits_clients(key, label)


def fits_clients(key: str, label: str) -> bool:
    """Whether a key of `expected` means the clients of this label. `app` is any program of the user's."""
    return key in (label, label_of("+".join(map(_as_app, label.split("+")))))


def _as_app(kind: str) -> str:
    return PROGRAM if kind in CLIENT_KINDS and CLIENT_KINDS[kind].users_program else kind


def programs_never_meant(expected: str | Mapping[str, Any], label: str) -> Iterator[tuple[str, ...]]:
    """The keys that name a program of the user's, where none of the scenario's clients is one of that kind."""
    own = {*label.split("+")}
    own |= {_as_app(kind) for kind in own}
    for key, below in expected.items() if isinstance(expected, Mapping) else ():
        for path in ((key,), *((key, inner) for inner in below if isinstance(below, Mapping))):
            kinds = [] if is_range(path[-1]) else path[-1].split("+")
            if any(CLIENT_KINDS[kind].users_program and kind not in own for kind in kinds):
                yield path


def expected_kinds(expected: str | Mapping[str, Any]) -> frozenset[OutcomeKind]:
    """Every outcome that is expected of some cell."""
    return frozenset(OutcomeKind(word) for word in expected_words(expected) if word != MEASURED)


def expected_words(expected: str | Mapping[str, Any]) -> Iterator[str]:
    """Every word in it: an outcome, or `measured`."""
    if isinstance(expected, str):
        yield expected
        return
    for value in expected.values():
        yield from expected_words(value)


def expected_text(expected: str | Mapping[str, Any]) -> str:
    """What is expected, in one line: `reproduced`; `java: reproduced, grpc: (>=5.4: not-reproduced)`."""
    if isinstance(expected, str):
        return expected
    parts = (
        f"{key}: {value if isinstance(value, str) else f'({expected_text(value)})'}"
        for key, value in expected.items()
    )
    return ", ".join(parts)
