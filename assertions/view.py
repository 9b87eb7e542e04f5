"""A run's history, read: who was sent what, who got it, what was observed when. Pure.

Kinds of events that it reads, and their data (names as the scenario has them):

=====================  =============================================================================
`run-started`          timing
`send-invoked`         topic, key, tag
`sent`                 topic, key, tag, broker, queue_id, queue_offset, msg_id, offset_msg_id, status
`received`             topic, key, tag, broker, queue_id, offset, reconsume_times; node: the consumer
`consumed`             key, status; node: the consumer
`consumer-started`     client_id; node: the consumer
`consumer-stopped`     node: the consumer
`fault-effective`      fault, target
`bound`                variable, consumers
`subscription-observed`  group, broker, online, clients, subscriptions {topic: {expression, codes, ..}}
`ownership-observed`   group, consumer, queues [{topic, broker, queue_id}], subscriptions
`offsets-observed`     group, topic, queues [{broker, queue_id, max_offset, consumer_offset}]
`tracks-observed`      topic, key, tracks {group: type}
`pull-counts-observed` consumer, topic, found_pulls, passed_messages
`moment-observed`      moment: everything with this `moment` in its data was read by here
=====================  =============================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from assertions.tags import tags_of
from harness.model import Event

if TYPE_CHECKING:
    from harness.scenario import Scenario


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


def queue_name(broker: str, queue_id: int) -> str:
    """How queues are called in findings: `broker-a:0`."""
    return f"{broker}:{queue_id}"


class RunView:
    """The history of one run of `scenario`, by what the checks ask for."""

    def __init__(self, scenario: Scenario, events: Sequence[Event]) -> None:
        self.scenario = scenario
        self.events = events

    def of_kind(self, kind: str, until: int | None = None) -> Iterator[Event]:
        """Events of one kind in their order, up to and including number `until`."""
        for event in self._by_kind.get(kind, ()):
            if until is not None and event.n > until:
                return
            yield event

    @cached_property
    def _by_kind(self) -> dict[str, list[Event]]:
        found: dict[str, list[Event]] = {}
        for event in self.events:
            found.setdefault(event.kind, []).append(event)
        return found

    def end_of(self, moment: str) -> int | None:
        """The number of the event that closes an observation; None where it was not completed."""
        for event in self.of_kind("moment-observed"):
            if event.data["moment"] == moment:
                return event.n
        return None

    def observed(self, kind: str, moment: str, **fields: Any) -> list[Event]:
        """What was observed at `moment`, of one kind, with these values in its data."""
        return [
            event
            for event in self.of_kind(kind)
            if event.data.get("moment") == moment
            and all(event.data.get(name) == value for name, value in fields.items())
        ]

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

    def consumers(self, target: str) -> tuple[str, ...] | None:
        """The consumers that a target stands for; None for a variable that was never bound."""
        if target.startswith("$"):
            bound = [event for event in self.of_kind("bound") if event.data["variable"] == target[1:]]
            return tuple(bound[-1].data["consumers"]) if bound else None
        if target in self.scenario.consumers:
            return (target,)
        return self.scenario.members(target)

    def expression(self, tag: str, topic: str) -> str | None:
        """A literal tag as it is; for `$holder.tag` that consumer's subscription expression for `topic`."""
        if not tag.startswith("$"):
            return tag
        consumers = self.consumers(tag.removesuffix(".tag"))
        if not consumers:
            return None
        return self.scenario.consumers[consumers[0]].subscribe.get(topic)

    def tags(self, tag: str, topic: str) -> frozenset[str] | None:
        """The tags that a reference means: a literal one, or all to which a bound consumer subscribes."""
        expression = self.expression(tag, topic)
        if expression is None:
            return None
        return tags_of(expression) if tag.startswith("$") else frozenset({tag})

    @property
    def timing(self) -> str:
        """The name of the run's timing profile."""
        return next((str(event.data.get("timing")) for event in self.of_kind("run-started")), "")

    def paused(self, at: int) -> list[str]:
        """Consumers whose process stands still at event `at`."""
        paused: dict[str, bool] = {}
        for event in self.events:
            if event.n <= at and event.kind in ("fault-effective", "fault-healed"):
                if event.data["fault"] == "pause":
                    paused[event.data["target"]] = event.kind == "fault-effective"
                elif event.data["fault"] == "kill":
                    paused[event.data["target"]] = False
        return [name for name, stands_still in paused.items() if stands_still]

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
        """The first observation after the sending that shows the group's offset behind the message."""
        for offset, event in self._offsets.get((group, message.topic, message.queue), ()):
            if offset > message.offset and message.event.n < event.n <= until:
                return event
        return None

    @cached_property
    def _lives(self) -> list[tuple[int, str, bool]]:
        """When consumers came online and went: event number, consumer, whether it is online from there on."""
        lives = [(event.n, event.node, True) for event in self.of_kind("consumer-started")]
        lives += [(event.n, event.node, False) for event in self.of_kind("consumer-stopped")]
        lives += [
            (event.n, event.data["target"], False)
            for event in self.of_kind("fault-effective")
            if event.data["fault"] == "kill"
        ]
        return sorted(lives)

    def online(self, at: int, group: str) -> list[str]:
        """Members of a group that have started, and have neither stopped nor been killed, by event `at`."""
        online = {name: is_online for number, name, is_online in self._lives if number <= at}
        return [name for name in self.scenario.members(group) if online.get(name)]

    def ever_started(self, consumer: str) -> bool:
        """Whether the consumer has started at all."""
        return any(event.node == consumer for event in self.of_kind("consumer-started"))

    def ownership(self, group: str, at: int) -> dict[str, Event]:
        """The last observed assignment of each member online at event `at`, by consumer."""
        online = set(self.online(at, group))
        last: dict[str, Event] = {}
        for event in self.of_kind("ownership-observed", until=at):
            if event.data["group"] == group and event.data["consumer"] in online:
                last[event.data["consumer"]] = event
        return last


def owned_queues(event: Event, topic: str) -> list[str]:
    """The queues of a topic in an `ownership-observed` event."""
    return [
        queue_name(queue["broker"], queue["queue_id"])
        for queue in event.data["queues"]
        if queue["topic"] == topic
    ]
