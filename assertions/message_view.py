"""The messages of a run: where they were sent, who got them, and which offsets passed them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rocketchaos.assertions.event_view import EventView
from rocketchaos.harness.core.events.clients import ConsumerStarting, ConsumerStopped
from rocketchaos.harness.core.events.messages import Blocked, Consumed, Received, SendInvoked
from rocketchaos.harness.core.events.messages import Sent as SentEvent
from rocketchaos.harness.core.events.observed import OffsetsObserved
from rocketchaos.harness.core.events.servers import FaultEffective
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.language.fault_effects import KILLS


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that a broker acknowledged."""

    key: str
    topic: str
    tag: str | None
    queue: str
    """`<broker>:<queue id>`."""
    offset: int
    event: Event[SentEvent]
    """The acknowledgement."""
    invoked_n: int
    """The number of `send-invoked`: from here on it may be stored, pulled and passed."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that a listener got."""

    key: str
    topic: str
    consumer: str
    queue: str
    reconsume_times: int
    """0 where a printed line doesn't tell: see `TraitsView.seen_from_outside`."""
    event: Event[Received]


class MessageView(EventView):
    """A run's messages."""

    @cached_property
    def sent(self) -> tuple[Sent, ...]:
        """All acknowledged messages."""
        return tuple(
            Sent(
                key=event.body.key,
                topic=event.body.topic,
                tag=event.body.tag,
                queue=event.body.queue,
                offset=event.body.queue_offset,
                event=event,
                invoked_n=self._invoked.get(event.body.key, event.n),
            )
            for event in self.of_kind(SentEvent)
        )

    @cached_property
    def _invoked(self) -> dict[str, int]:
        return {event.body.key: event.n for event in self.of_kind(SendInvoked)}

    def sent_until(self, until: int) -> list[Sent]:
        """Messages acknowledged by event number `until`."""
        return [message for message in self.sent if message.event.n <= until]

    @cached_property
    def _deliveries(self) -> tuple[Delivery, ...]:
        return tuple(
            Delivery(
                key=event.body.key or "",
                topic=event.body.topic,
                consumer=event.node,
                # A printed line rarely tells: the message's own place is where it was sent.
                queue=event.body.queue or self._places.get(event.body.key or "", ""),
                reconsume_times=event.body.reconsume_times or 0,
                event=event,
            )
            for event in self.of_kind(Received)
        )

    @cached_property
    def _places(self) -> dict[str, str]:
        return {message.key: message.queue for message in self.sent}

    def deliveries(self, until: int, consumers: Sequence[str] | None = None) -> list[Delivery]:
        """The deliveries by event number `until`, only those of these consumers if they are named."""
        return [
            delivery
            for delivery in self._deliveries
            if delivery.event.n <= until and (consumers is None or delivery.consumer in consumers)
        ]

    def delivered(self, until: int, consumers: Sequence[str], topic: str | None = None) -> set[str]:
        """The different messages that reached these listeners by event number `until`, of one topic or of all."""
        return {
            delivery.key
            for delivery in self.deliveries(until, consumers)
            if topic is None or delivery.topic == topic
        }

    @cached_property
    def _deliveries_by_key(self) -> dict[str, list[Delivery]]:
        found: dict[str, list[Delivery]] = {}
        for delivery in self._deliveries:
            found.setdefault(delivery.key, []).append(delivery)
        return found

    def deliveries_of(self, key: str, until: int) -> list[Delivery]:
        """Who got one message by event number `until`."""
        return [item for item in self._deliveries_by_key.get(key, ()) if item.event.n <= until]

    @cached_property
    def _results_by_key(self) -> dict[str, list[Event[Consumed]]]:
        found: dict[str, list[Event[Consumed]]] = {}
        for event in self.of_kind(Consumed):
            found.setdefault(event.body.key or "", []).append(event)
        return found

    def results_of(self, key: str, until: int) -> list[Event[Consumed]]:
        """The listeners' answers about one message by event number `until`."""
        return [event for event in self._results_by_key.get(key, ()) if event.n <= until]

    def blocked(self, consumer: str, until: int) -> list[str]:
        """The messages that a consumer's listener holds on to at event `until`, by its `behaviour: block`.

        Each from when the listener blocks on it until it returns, or its process ends.
        """
        held: dict[str, None] = {}
        for event in self.events:
            if event.n > until:
                break
            match event.body:
                case FaultEffective(fault=fault, target=target) if fault in KILLS and target == consumer:
                    held.clear()
                case _ if event.node != consumer:
                    continue
                case ConsumerStarting() | ConsumerStopped():
                    held.clear()
                case Blocked(key=str(key)):
                    held[key] = None
                case Consumed(key=str(key)):
                    held.pop(key, None)
        return list(held)

    @cached_property
    def _offsets(self) -> dict[tuple[str, str, str], list[tuple[int, Event]]]:
        """The group's offsets as they were observed, by group, topic and queue; none stored counts as 0."""
        found: dict[tuple[str, str, str], list[tuple[int, Event]]] = {}
        for event in self.of_kind(OffsetsObserved):
            for queue in event.body.queues:
                where = (
                    event.body.group,
                    event.body.topic,
                    queue.name,
                )
                found.setdefault(where, []).append((queue.consumer_offset or 0, event))
        return found

    def first_passed(self, group: str, message: Sent, until: int) -> Event | None:
        """The first observation after the sending from which on the group's offset is beyond the message. None if
        the last observation shows it before the message, as after a reset.
        """
        first = None
        for offset, event in self._offsets.get((group, message.topic, message.queue), ()):
            if message.event.n < event.n <= until:
                first = None if offset <= message.offset else first or event
        return first
