"""A run's history, read: who was sent what, who got it, what was observed when. Pure.

Kinds of events that it reads, and their data (names as the scenario has them):

=====================  =============================================================================
`run-started`          timing
`send-invoked`         topic, key, tag
`sent`                 topic, key, tag, broker, queue_id, queue_offset, msg_id, offset_msg_id, status; where
                       it has any keys, properties
`received`             topic, key, tag, broker, queue_id, offset, reconsume_times; node: the consumer
`consumed`             key, status; node: the consumer
`topic-created`        topic, real: its name at the brokers, queues
`consumer-starting`    subscribe {topic: tags | {sql}}; node: the consumer
`consumer-started`     client_id, pid, process: `own`, or `shared` with other clients; node: the consumer
`consumer-refused`     error, code: its client's start() threw; node: the consumer
`subscribed`           topic, expression: tags | {sql}; a running consumer did; node: the consumer
`unsubscribed`         topic; a running consumer did; node: the consumer
`blocked`              key; the listener holds on to it; node: the consumer
`listener-released`    node: the consumer
`consumer-stopped`     node: the consumer
`fault-effective`      fault, target; of a fault between two ends target tells both, and sides [both]
`bound`                variable, consumers
`subscription-observed`  group, broker, online, clients, subscriptions {topic: {expression, type, codes, ..}},
                       consume_from_where, message_model: the group's; None where nobody is online
`ownership-observed`   group, consumer, queues [{topic, broker, queue_id}], subscriptions
`offsets-observed`     group, topic, queues [{broker, queue_id, max_offset, consumer_offset}]
`tracks-observed`      topic, key, tracks {group: type}
`dashboard-tracks-observed`  topic, key, tracks {group: type}: every entry that the dashboard shows, be it a
                       group of the scenario or not; why {group: text}: what kept it from saying more
`dashboard-connections-observed`  group, clients, subscriptions {topic: {expression, type, sub_version}},
                       consume_from_where, message_model; error: what it shows instead, else None
`dashboard-progress-observed`  group, topics {topic: [{broker, queue_id, max_offset, consumer_offset, owner}]};
                       error
`pull-counts-observed` consumer, topic, found_pulls, passed_messages
`dead-letters-observed` group, count: messages in `%DLQ%<group>`
`heartbeat-sent`       client_id, group, brokers, subscriptions {topic: {expression, sub_version}},
                       consume_from_where, message_model; node: the hand-made client
`notified`             broker, group: the broker says that the group has changed (40); node: the hand-made client
`hand-made-closed`     client_id: its connections end; node: the hand-made client
`pulled`               a raw pull and its answer: name, group, topic, broker, queue_id, offset, with, code,
                       status, remark, next_offset, min_offset, max_offset, messages, keys, took_ms
`offsets-reset`        group, topic, queues [{broker, queue_id, offset}]
`broker-configured`    broker, set {key: value}, before {key: value}
`files-expired`        broker, topic, min_offsets_before {queue_id: offset}, min_offsets
`log-line`             of: node or consumer, pattern, time, text: a line of its log that a check asks for
`log-observed`         of, pattern, count: lines since the run's beginning
`moment-observed`      moment: everything with this `moment` in its data was read by here; in a `repeat` also
                       name, iteration: the last one counts as `name` too
=====================  =============================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from assertions.subscribed import KINDS, OwnSubscriptions
from assertions.tags import tags_of
from harness.consumer import text_of
from harness.model import Event

if TYPE_CHECKING:
    from harness.scenario import Scenario


_DISTURBANCES = frozenset(
    {
        "consumer-starting",
        "consumer-started",
        "consumer-stopped",
        "subscribed",
        "unsubscribed",
        "listener-released",
        "fault-effective",
        "fault-healed",
        "offsets-reset",
        "heartbeat-sent",
    }
)


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
        moment = self.iterations_of(moment)[-1]
        for event in self.of_kind("moment-observed"):
            if event.data["moment"] == moment:
                return event.n
        return None

    def iterations_of(self, moment: str) -> list[str]:
        """The names of the observations that a `repeat` made under this name; otherwise the name itself."""
        return [
            event.data["moment"]
            for event in self.of_kind("moment-observed")
            if event.data.get("name") == moment
        ] or [moment]

    def observed(self, kind: str, moment: str, **fields: Any) -> list[Event]:
        """What was observed at `moment`, of one kind, with these values in its data."""
        moment = self.iterations_of(moment)[-1]
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
        """A literal tag as it is; for `$holder.tag` that consumer's expression for `topic` when it was bound."""
        if not tag.startswith("$"):
            return tag
        consumers = self.consumers(tag.removesuffix(".tag"))
        if not consumers:
            return None
        variable = tag[1:].removesuffix(".tag")
        bound = [event.n for event in self.of_kind("bound") if event.data["variable"] == variable]
        expression = self.own_subscriptions.at(consumers[0], bound[-1]).get(topic)
        return None if expression is None else text_of(expression)

    @cached_property
    def own_subscriptions(self) -> OwnSubscriptions:
        """What the consumers themselves subscribed to, all through the run."""
        declared = {name: spec.subscribe for name, spec in self.scenario.consumers.items()}
        return OwnSubscriptions(declared, [event for event in self.events if event.kind in KINDS])

    def real_topic(self, topic: str) -> str:
        """A topic's name at the brokers, by which some strategies allocate its queues."""
        reals = [
            event.data["real"] for event in self.of_kind("topic-created") if event.data["topic"] == topic
        ]
        return str(reals[-1]) if reals else topic

    def client_id(self, consumer: str) -> str:
        """The id under which brokers knew a consumer last; its name where it never started."""
        started = [event for event in self.of_kind("consumer-started") if event.node == consumer]
        return str(started[-1].data["client_id"]) if started else consumer

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

    def nodes_away(self, at: int) -> list[str]:
        """Nodes that at event `at` are stopped or killed and not back, or stand still."""
        away: dict[str, bool] = {}
        for event in self.events:
            if event.n > at:
                break
            if event.kind == "node-ready":
                away[event.node] = False
            elif event.kind in ("fault-effective", "fault-healed") and event.data["fault"] in (
                "kill",
                "stop",
                "pause",
            ):
                away[event.data["target"]] = event.kind == "fault-effective"
        return [name for name, is_away in away.items() if is_away and name in self.scenario.cluster.nodes]

    def network_faults(self, at: int) -> list[str]:
        """The faults of the network that are in effect at event `at`, each with its target."""
        active: dict[str, bool] = {}
        for event in self.events:
            if event.n <= at and event.kind in ("fault-effective", "fault-healed") and "sides" in event.data:
                fault = f"{event.data['fault']} of {event.data['target']}"
                active[fault] = event.kind == "fault-effective"
        return [fault for fault, is_active in active.items() if is_active]

    def killed(self, consumers: Iterable[str], at: int) -> list[str]:
        """Those of these consumers that were killed by event `at`."""
        targets = {
            event.data["target"]
            for event in self.of_kind("fault-effective", until=at)
            if event.data["fault"] == "kill"
        }
        return [name for name in consumers if name in targets]

    def last_disturbance(self, groups: Sequence[str], at: int) -> Event | None:
        """The last event by `at` after which these groups may need time to settle; None: there is none."""
        members = {name for group in groups for name in self.scenario.members(group)}
        found = None
        for event in self.events:
            if event.n > at:
                break
            concerned = event.node in members or event.data.get("group") in groups
            if event.kind in ("fault-effective", "fault-healed"):
                targets = {event.data["target"], *event.data.get("sides", ())}
                concerned = bool(targets & (members | set(self.scenario.cluster.nodes)))
            if concerned and event.kind in _DISTURBANCES:
                found = event
        return found

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
        """The first observation after the sending from which on the group's offset is behind the message.

        None where the last one shows it before the message, as after a reset, whatever was so in between.
        """
        first = None
        for offset, event in self._offsets.get((group, message.topic, message.queue), ()):
            if message.event.n < event.n <= until:
                first = None if offset <= message.offset else first or event
        return first

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

    def hand_made_ids(self, group: str, at: int) -> list[str]:
        """The client ids of the hand-made members of a group by event `at`."""
        sent = [one for one in self.of_kind("heartbeat-sent", until=at) if one.data["group"] == group]
        online = {event.node: event for event in sent}
        for event in self.of_kind("hand-made-closed", until=at):
            if event.node in online and online[event.node].n < event.n:
                del online[event.node]
        return [str(event.data["client_id"]) for event in online.values()]

    def queues_owned(self, target: str, topic: str, at: int) -> frozenset[str] | None:
        """The queues of a topic that these consumers owned when last observed by event `at`.

        None: it is a variable that was never bound, or one of them was never observed.
        """
        consumers = self.consumers(target)
        last = {
            event.data["consumer"]: event
            for event in self.of_kind("ownership-observed", until=at)
            if event.data["consumer"] in (consumers or ())
        }
        if not consumers or len(last) < len(consumers):
            return None
        return frozenset(queue for event in last.values() for queue in owned_queues(event, topic))

    def ms_between(self, first: int, second: int) -> float:
        """Milliseconds from one event to another, both by their numbers."""
        at = {event.n: event.mono_ns for event in self.events if event.n in (first, second)}
        return (at[second] - at[first]) / 1e6

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
