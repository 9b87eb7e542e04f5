"""A run's events by kind and by observation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rocketchaos.harness.core.events.base import Body
from rocketchaos.harness.core.events.observed import Observation
from rocketchaos.harness.core.events.run import MomentObserved, RunStarted
from rocketchaos.harness.core.events.servers import LogObserved
from rocketchaos.harness.core.model import Event

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


B = TypeVar("B", bound=Body)
OBSERVED = TypeVar("OBSERVED", bound="Observation | LogObserved")

END = "end"
"""The observation that every run makes at its end."""


def of_type(events: Iterable[Event], kind: type[B]) -> Iterator[Event[B]]:
    """The events of one kind, in their order."""
    for event in events:
        if event.kind == kind.kind:
            yield cast("Event[B]", event)


def ends(events: Iterable[Event]) -> list[Event[MomentObserved]]:
    """The events that close an observation of the run's end: several if the end was put off. The last one
    counts."""
    return [event for event in of_type(events, MomentObserved) if END in (event.body.moment, event.body.name)]


@dataclass(frozen=True, slots=True)
class EventView:
    """The history of one run of `scenario`, read by kind and number."""

    scenario: Scenario
    events: Sequence[Event]

    def of_kind(self, kind: type[B], until: int | None = None) -> Iterator[Event[B]]:
        """Events of one kind in their order, up to and including number `until`."""
        for event in self._by_kind.get(kind.kind, ()):
            if until is not None and event.n > until:
                return
            yield cast("Event[B]", event)

    @cached_property
    def _by_kind(self) -> dict[str, list[Event]]:
        found: dict[str, list[Event]] = {}
        for event in self.events:
            found.setdefault(event.kind, []).append(event)
        return found

    def end_of(self, moment: str) -> int | None:
        """The number of the event that closes an observation; None if it was not completed."""
        moment = self.iterations_of(moment)[-1]
        for event in self.of_kind(MomentObserved):
            if event.body.moment == moment:
                return event.n
        return None

    def iterations_of(self, moment: str) -> list[str]:
        """The names of the observations that a `repeat` made under this name; otherwise the name itself.

        There is one observation of the end: it is postponed, and made again, if only time is missing.
        """
        found = [
            event.body.moment for event in self.of_kind(MomentObserved) if event.body.name == moment
        ] or [moment]
        return found[-1:] if moment == END else found

    def observed(self, kind: type[OBSERVED], moment: str, **fields: Any) -> list[Event[OBSERVED]]:
        """The events of one kind that were observed at `moment`, with these values in their body."""
        moment = self.iterations_of(moment)[-1]
        return [
            event
            for event in self.of_kind(kind)
            if event.body.moment == moment
            and all(getattr(event.body, name) == value for name, value in fields.items())
        ]

    @property
    def timing(self) -> str:
        """The name of the run's timing profile."""
        return next((str(event.body.timing) for event in self.of_kind(RunStarted)), "")

    def ms_between(self, first: int, second: int) -> float:
        """Milliseconds from one event to another, both by their numbers."""
        at = {event.n: event.mono_ns for event in self.events if event.n in (first, second)}
        return (at[second] - at[first]) / 1e6
