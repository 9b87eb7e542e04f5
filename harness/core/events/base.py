"""The base of all kinds of events: a body, read from the JSON of a line, and written as JSON."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import msgspec


class BrokenEvent(ValueError):
    """An event's data lacks a field of its kind, or has one of another type; the text names the field."""


class Body(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The data of an event, in addition to who saw it and when.

    A field with a default may be missing: where it says nothing, or in the folders of older versions. Fields that
    no version of ours knows are left out.
    """

    kind: ClassVar[str] = ""
    """The word in the history."""
    node: ClassVar[str] = ""
    """Who writes it, which is the event's `node`: see `WRITERS`."""

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """The body of an event with this data.

        Raises:
            BrokenEvent: a field is missing, or of another type.
        """
        try:
            return msgspec.convert(data, cls)
        except msgspec.ValidationError as error:
            raise BrokenEvent(f"`{cls.kind}`: {_in_words(str(error))}") from None

    def as_data(self) -> dict[str, Any]:
        """The event as JSON, in the order of its fields, without empty ones."""
        data: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return data


class Unknown(Body, frozen=True):
    """An event of a kind that this version doesn't know, as a newer one may have written it."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A mapping within the data of events."""


class Queue(Part, frozen=True):
    """A queue of a topic that the event names."""

    broker: str
    queue_id: int

    @property
    def name(self) -> str:
        """How queues are called in findings: `broker-a:0`."""
        return f"{self.broker}:{self.queue_id}"


WRITERS = {
    "harness": "the harness itself",
    "producer": "the harness, about its producer",
    "consumer": "the harness, about a consumer",
    "worker": "a worker's process, on behalf of a consumer",
    "hand-made": "the harness, about a client that it made by hand",
    "server": "the harness, about a server",
    "logged": "the harness, about the server or consumer whose log it reads",
}
"""Who writes events, and whom their `node` names."""

_MISSING = re.compile(r"Object missing required field `([^`]*)`(?: - at `\$\.?([^`]*)`)?")
_WRONG = re.compile(r"Expected `([^`]*)`, got `([^`]*)`(?: - at `\$\.?([^`]*)`)?")


def _in_words(error: str) -> str:
    """msgspec's sentence in ours, which names the field first."""
    if missing := _MISSING.fullmatch(error):
        return f"the field `{'.'.join(filter(None, (missing[2], missing[1])))}` is missing"
    if wrong := _WRONG.fullmatch(error):
        return f"the field `{wrong[3] or 'data'}` must be {wrong[1]}, and is {wrong[2]}"
    return error
