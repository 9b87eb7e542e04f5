"""What each consumer itself subscribed to, all through a run. Pure.

A consumer starts with what `consumer-starting` says, or, where that is missing, with what the scenario declares;
of a user's program `program-subscription` tells it then; `subscribed` and `unsubscribed` change it while it runs.
"""

from collections.abc import Iterable, Mapping

from rocketchaos.harness.core.events.clients import (
    ConsumerStarting,
    ProgramSubscription,
    Subscribed,
    Unsubscribed,
)
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.language.expressions import Expression, from_data

KINDS = tuple(item.kind for item in (ConsumerStarting, ProgramSubscription, Subscribed, Unsubscribed))
"""The kinds of events that report it."""

_STARTS = (ConsumerStarting.kind, ProgramSubscription.kind)

Course = list[tuple[int, dict[str, Expression]]]
"""The subscriptions by topic, each with the number of the event from which on they are so."""


class OwnSubscriptions:
    """The courses of all consumers; `events` are those of the kinds above, in their order."""

    def __init__(self, declared: Mapping[str, Mapping[str, Expression]], events: Iterable[Event]) -> None:
        self._courses: dict[str, Course] = {name: [(0, dict(own))] for name, own in declared.items()}
        self._changes: dict[str, list[tuple[int, str]]] = {}
        for event in events:
            self._changes.setdefault(event.node, []).append((event.n, event.kind))
            course = self._courses.get(event.node)
            if course is not None:
                _go_on(course, event)

    def at(self, consumer: str, number: int) -> Mapping[str, Expression]:
        """What a consumer subscribes to at event `number`, by topic."""
        return next(own for since, own in reversed(self._courses[consumer]) if since <= number)

    def between(self, consumer: str, topic: str, first: int, last: int) -> list[Expression | None]:
        """Its expressions for a topic from event `first` to `last`, each once; None: it didn't subscribe to it."""
        changes = [own for since, own in self._courses[consumer] if first < since <= last]
        found = [own.get(topic) for own in (self.at(consumer, first), *changes)]
        return [item for index, item in enumerate(found) if item not in found[:index]]

    def changes_while_running(self, consumer: str, until: int) -> list[int]:
        """The numbers of the events by which a consumer subscribed or unsubscribed since it started last."""
        changes: list[int] = []
        for since, kind in self._changes.get(consumer, ()):
            if since > until:
                break
            changes = [] if kind in _STARTS else [*changes, since]
        return changes

    def says_itself(self, consumer: str, until: int) -> bool:
        """Whether each life of a user's program that began by event `until` has said what it subscribes to.

        A scenario says what it expects of a program. The subscription that a program reports was so from its
        start.
        """
        starts = [item for item in self._changes.get(consumer, ()) if item[1] in _STARTS]
        begun = [index for index, (since, kind) in enumerate(starts) if since <= until and kind == _STARTS[0]]
        return bool(begun) and all(
            index + 1 < len(starts) and starts[index + 1][1] == ProgramSubscription.kind for index in begun
        )

    def topics(self, consumer: str, until: int) -> frozenset[str]:
        """The topics to which it has ever subscribed by event `until`."""
        return frozenset(topic for since, own in self._courses[consumer] if since <= until for topic in own)


def _go_on(course: Course, event: Event) -> None:
    """Add what the event says. A program had its own subscription from its start, if the scenario expects none."""
    own, since = _changed(course[-1][1], event), event.n
    if event.kind == ProgramSubscription.kind and not course[-1][1]:
        since, _ = course.pop()
    course.append((since, own))


def _changed(own: dict[str, Expression], event: Event) -> dict[str, Expression]:
    match event.body:
        case ConsumerStarting(subscribe=subscribe) | ProgramSubscription(subscribe=subscribe):
            return {topic: from_data(data) for topic, data in subscribe.items()}
        case Subscribed(topic=topic, expression=expression):
            return {**own, topic: from_data(expression)}
        case Unsubscribed(topic=gone):
            return {topic: expression for topic, expression in own.items() if topic != gone}
    return own
