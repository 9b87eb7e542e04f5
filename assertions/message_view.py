"""Who was sent what, who got it, and which offsets passed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rocketchaos.assertions.event_view import EventView
from rocketchaos.assertions.queues import queue_name
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.language.fault_registry import KILLS


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that a broker acknowledged."""

    key: str
    topic: str
    tag: str | None
    queue: str
    """`<broker>:<queue id>`."""
    offset: int
    event: Event
    """`sent`: the acknowledgement."""
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
    event: Event


class MessageView(EventView):
    """A run's messages."""

    @cached_property
    def sent(self) -> tuple[Sent, ...]:
        """All acknowledged messages."""
        return tuple(
            Sent(
                key=event.data["key"],
                topic=event.data["topic"],
                tag=event.data["tag"],
                queue=queue_name(event.data["broker"], event.data["queue_id"]),
                offset=event.data["queue_offset"],
                event=event,
                invoked_n=self._invoked.get(event.data["key"], event.n),
            )
            for event in self.of_kind("sent")
        )

    @cached_property
    def _invoked(self) -> dict[str, int]:
        return {event.data["key"]: event.n for event in self.of_kind("send-invoked")}

    def sent_until(self, until: int) -> list[Sent]:
        """Messages acknowledged by event number `until`."""
        return [message for message in self.sent if message.event.n <= until]

    @cached_property
    def _deliveries(self) -> tuple[Delivery, ...]:
        return tuple(
            Delivery(
                key=event.data["key"],
                topic=event.data["topic"],
                consumer=event.node,
                queue=queue_name(event.data["broker"], event.data["queue_id"]),
                reconsume_times=event.data["reconsume_times"],
                event=event,
            )
            for event in self.of_kind("received")
        )

    def deliveries(self, until: int, consumers: Sequence[str] | None = None) -> list[Delivery]:
        """What listeners got by event number `until`, of these consumers only where they are named."""
        return [
            delivery
            for delivery in self._deliveries
            if delivery.event.n <= until and (consumers is None or delivery.consumer in consumers)
        ]

    @cached_property
    def _deliveries_by_key(self) -> dict[str, list[Delivery]]:
        found: dict[str, list[Delivery]] = {}
        for delivery in self._deliveries:
            found.setdefault(delivery.key, []).append(delivery)
        return found

    def deliveries_of(self, key: str, until: int) -> list[Delivery]:
        """Who got one message by event number `until`."""
        return [one for one in self._deliveries_by_key.get(key, ()) if one.event.n <= until]

    @cached_property
    def _results_by_key(self) -> dict[str, list[Event]]:
        found: dict[str, list[Event]] = {}
        for event in self.of_kind("consumed"):
            found.setdefault(event.data["key"], []).append(event)
        return found

    def results_of(self, key: str, until: int) -> list[Event]:
        """What listeners answered about one message by event number `until`."""
        return [event for event in self._results_by_key.get(key, ()) if event.n <= until]

    def blocked(self, consumer: str, until: int) -> list[str]:
        """The messages that a consumer's listener holds on to at event `until`, by its `behaviour: block`.

        Each from when the listener blocks on it until it returns, or its process ends.
        """
        held: dict[str, None] = {}
        for event in self.events:
            if event.n > until:
                break
            if event.kind == "fault-effective":
                if event.data["fault"] in KILLS and event.data["target"] == consumer:
                    held.clear()
            elif event.node != consumer:
                continue
            elif event.kind in ("consumer-starting", "consumer-stopped"):
                held.clear()
            elif event.kind == "blocked":
                held[event.data["key"]] = None
            elif event.kind == "consumed":
                held.pop(event.data["key"], None)
        return list(held)

    @cached_property
    def _offsets(self) -> dict[tuple[str, str, str], list[tuple[int, Event]]]:
        """The group's offsets as they were observed, by group, topic and queue; none stored counts as 0."""
        found: dict[tuple[str, str, str], list[tuple[int, Event]]] = {}
        for event in self.of_kind("offsets-observed"):
            for queue in event.data["queues"]:
                where = (
                    event.data["group"],
                    event.data["topic"],
                    queue_name(queue["broker"], queue["queue_id"]),
                )
                found.setdefault(where, []).append((queue["consumer_offset"] or 0, event))
        return found

    def first_passed(self, group: str, message: Sent, until: int) -> Event | None:
        """The first observation after the sending from which on the group's offset is behind the message.

        None where the last one shows it before the message, as after a reset, whatever was so in between.
        """
        first = None
        for offset, event in self._offsets.get((group, message.topic, message.queue), ()):
            if message.event.n < event.n <= until:
                first = None if offset <= message.offset else first or event
        return first
