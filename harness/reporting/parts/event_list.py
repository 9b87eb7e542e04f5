"""The events as rows of the page, no more than a page can bear."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocketchaos.harness.core.model import Event
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.story import beginning_ns

WHOLE_LIMIT = 2_000
"""Up to this many events are all shown."""
ROW_LIMIT = 6_000
"""Never more rows than this: browsers on phones give up."""
TEXT_LIMIT = 400
_TRAFFIC = frozenset(("send-invoked", "sent", "received", "consumed"))


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event."""

    number: int
    seconds: float
    node: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class EventList:
    """The rows, and how many events there are in all."""

    rows: tuple[EventRow, ...]
    total: int

    @property
    def numbers(self) -> frozenset[int]:
        """The events that have a row, and so can be linked."""
        return frozenset(row.number for row in self.rows)


def event_list(run: Report) -> EventList:
    """All events; of many, those that are cited, and those that are no observations."""
    zero_ns = beginning_ns(run.events)
    rows = tuple(
        EventRow(event.n, (event.mono_ns - zero_ns) / 1e9, event.node, event.kind, data_text(event.data))
        for event in _chosen(run)
    )
    return EventList(rows, len(run.events))


def _chosen(run: Report) -> list[Event]:
    if len(run.events) <= WHOLE_LIMIT:
        return list(run.events)
    cited = {number for finding in run.outcome.findings for number in finding.events}
    rare: list[Event] = []
    common: list[Event] = []
    for event in run.events:
        if event.kind.endswith("-observed") and event.n not in cited:
            continue
        (common if event.kind in _TRAFFIC else rare).append(event)
    room = max(0, ROW_LIMIT - len(rare))
    return sorted([*rare[:ROW_LIMIT], *common[:room]], key=lambda event: event.n)


def data_text(data: Mapping[str, Any]) -> str:
    """`topic orders · key orders-1`, shortened where it is long."""
    parts = [
        f"{name} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in data.items()
    ]
    text = " · ".join(parts)
    return text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + "…"
