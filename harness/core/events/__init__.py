"""The catalogue of all kinds of events: a frozen type each, with its units, and who writes it.

From it come the typed access to a history (`Event.body`), the validation of a run folder
(`harness.core.history.read_history`) and `docs/events.md`. `Event.data` is the JSON of the file, unchanged.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rocketchaos.harness.core.events import clients, messages, observed, run, servers
from rocketchaos.harness.core.events.base import Body, Unknown

SUBJECTS = (run, messages, clients, observed, servers)
"""The modules of the catalogue."""


def _kinds(of: type[Body]) -> Iterator[type[Body]]:
    for subclass in of.__subclasses__():
        if subclass.kind:
            yield subclass
        yield from _kinds(subclass)


KINDS: dict[str, type[Body]] = {item.kind: item for item in sorted(_kinds(Body), key=lambda kind: kind.kind)}
"""Each kind's type, by its word."""

_UNKNOWN = Unknown()


def body_of(kind: str, data: Mapping[str, Any]) -> Body:
    """The body of an event; `Unknown` for a kind that isn't in the catalogue.

    Raises:
        BrokenEvent: a field is missing, or of another type.
    """
    known = KINDS.get(kind)
    return _UNKNOWN if known is None else known.read(data)
