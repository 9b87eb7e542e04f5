"""What happened, in a few lines: who started, who held the subscription, what was sent, who got it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from rocketchaos.harness.core.events.base import Body
from rocketchaos.harness.core.events.clients import (
    ConsumerRefused,
    ConsumerResumed,
    ConsumerStarting,
    ConsumerStopped,
    ConsumerSuspended,
    ListenerReleased,
    OutputCut,
    ProgramSubscription,
    Sought,
    Subscribed,
    Unsubscribed,
    WorkerDied,
)
from rocketchaos.harness.core.events.messages import (
    ListenerError,
    OffsetsReset,
    Recalled,
    RecallRefused,
    Received,
    SendAccepted,
    SendFailed,
    Sent,
)
from rocketchaos.harness.core.events.observed import SubscriptionObserved
from rocketchaos.harness.core.events.run import Bound, RunTrouble, Settled, StepStarted, Waited
from rocketchaos.harness.core.events.servers import (
    Asked,
    BrokerConfigured,
    Fault,
    FaultEffective,
    FaultHealed,
    FilesExpired,
    FilesLost,
    GroupConfigured,
    GroupDeleted,
    MqadminRan,
    TopicConfigured,
    TopicDeleted,
)
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.core.text import counted, ranges
from rocketchaos.harness.language.expressions import in_words
from rocketchaos.harness.language.fault_effects import KILLS

_ACCEPTED = {
    "oneway": "sent one-way to",
    "delayed": "sent with a delay to",
    "request": "sent as requests to",
    "commit": "sent in transactions to",
    "rollback": "sent in transactions to",
    "unknown": "sent in transactions to",
}
M = TypeVar("M", Sent, SendAccepted)
LINE_LIMIT = 60
"""More lines are no longer a story."""


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that happened."""

    seconds: float
    """Since the first step began."""
    text: str
    event: int


def beginning_ns(events: Sequence[Event]) -> int:
    """The time of the first step; if no step ran, the time of the first event."""
    steps = [event for event in events if isinstance(event.body, StepStarted)]
    chosen = steps[:1] or list(events[:1])
    return chosen[0].mono_ns if chosen else 0


def story(events: Sequence[Event]) -> list[Line]:
    """The lines, in order of time; if there are too many, a line says how many of the middle are left out."""
    lines = _Teller(beginning_ns(events)).tell(events)
    if len(lines) <= LINE_LIMIT:
        return lines
    half = LINE_LIMIT // 2
    left_out = lines[half:-half]
    gap = Line(left_out[0].seconds, f"… {counted(len(left_out), 'more thing')} happened …", left_out[0].event)
    return [*lines[:half], gap, *lines[-half:]]


@dataclass(slots=True)
class _Teller:
    """Collects sends and deliveries until something else happens, then tells them in one line."""

    zero_ns: int
    lines: list[Line] = field(default_factory=list)
    sends: list[Event[Sent]] = field(default_factory=list)
    accepted: list[Event[SendAccepted]] = field(default_factory=list)
    accepted_keys: set[str] = field(default_factory=set)
    """Of messages whose queue shows later."""
    deliveries: list[Event[Received]] = field(default_factory=list)
    stored: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)

    def tell(self, events: Sequence[Event]) -> list[Line]:
        for event in events:
            match event.body:
                case Sent():
                    self.sends.append(cast("Event[Sent]", event))
                case SendAccepted(key=key):
                    self.accepted.append(cast("Event[SendAccepted]", event))
                    self.accepted_keys.add(key)
                case Received():
                    self.deliveries.append(cast("Event[Received]", event))
                case SubscriptionObserved():
                    self._subscription(event, event.body)
                case _ if (text := _in_words(event)) is not None:
                    self._flush()
                    self._add(event, text)
        self._flush()
        return sorted(self.lines, key=lambda line: line.seconds)

    def _add(self, event: Event, text: str) -> None:
        self.lines.append(Line((event.mono_ns - self.zero_ns) / 1e9, text, event.n))

    def _flush(self) -> None:
        for what, accepted in _alike(self.accepted, lambda event: _ACCEPTED[event.body.how]).items():
            self._add(accepted[0], what)
        for what, sent in _alike(self.sends, self._how_it_came).items():
            queues = Counter(send.body.queue for send in sent)
            each = f", {min(queues.values())} to each" if len(set(queues.values())) == 1 else ""
            to_or_in = "in" if sent[0].body.key in self.accepted_keys else "to"
            self._add(sent[0], f"{what}, {to_or_in} {counted(len(queues), 'queue')}{each}")
        for consumer in dict.fromkeys(delivery.node for delivery in self.deliveries):
            mine = [delivery for delivery in self.deliveries if delivery.node == consumer]
            again = sum(1 for delivery in mine if delivery.body.reconsume_times)
            by_lines = [delivery for delivery in mine if delivery.body.line is not None]
            got = "reported that it handled" if by_lines else "got"
            from_queues = _queues_of(mine)
            self._add(
                mine[0],
                f"{consumer} {got} {counted(len(mine), 'message')}"
                + (f", from queues {from_queues}" if from_queues else "")
                + (f"; {again} of them delivered again" if again else ""),
            )
        self.sends, self.accepted, self.deliveries = [], [], []

    def _how_it_came(self, event: Event[Sent]) -> str:
        return "found in" if event.body.key in self.accepted_keys else "sent to"

    def _subscription(self, event: Event, observation: SubscriptionObserved) -> None:
        group, broker, table = observation.group, observation.broker, observation.subscriptions
        # The retry topic is stored for every group, and says nothing.
        held = {topic: item.expression for topic, item in table.items() if not topic.startswith("%")}
        if self.stored.get((group, broker), {}) == held:
            return
        self.stored[(group, broker)] = held
        self._flush()
        expressions = in_words(dict(sorted(held.items())))
        self._add(event, f"{broker} holds as the subscription of group {group}: {expressions}")


def _queues_of(received: Sequence[Event[Received]]) -> str:
    by_broker: dict[str, list[int]] = {}
    for event in received:
        if event.body.broker is not None and event.body.queue_id is not None:
            by_broker.setdefault(event.body.broker, []).append(event.body.queue_id)
    return ", ".join(f"{broker}:{ranges(ids)}" for broker, ids in sorted(by_broker.items()))


def _alike(events: Sequence[Event[M]], verb: Callable[[Event[M]], str]) -> dict[str, list[Event[M]]]:
    """Messages of one topic and tag with one verb, by a phrase that counts them."""
    found: dict[tuple[str, str | None, str], list[Event[M]]] = {}
    for event in events:
        found.setdefault((event.body.topic, event.body.tag, verb(event)), []).append(event)
    lines = {}
    for (topic, tag, said), alike in found.items():
        what = "without a tag" if tag is None else f"of tag {tag}"
        lines[f"{counted(len(alike), 'message')} {what} {said} {topic}"] = alike
    return lines


def _in_words(event: Event) -> str | None:
    """None: the sends, the deliveries and the subscriptions show it, or nothing does."""
    match event.body:
        case ConsumerStarting(subscribe=subscribe):
            # What a program of the user's subscribes to shows once it runs.
            return f"{event.node} starts" + (f", subscribing {in_words(subscribe)}" if subscribe else "")
        case ProgramSubscription(subscribe=subscribe, pid=pid):
            return f"{event.node} is in process {pid}, which subscribes by itself: {in_words(subscribe)}"
        case ConsumerRefused(error=error):
            return f"the start of {event.node} is refused: {error}"
        case ConsumerStopped():
            return f"{event.node} has stopped"
        case WorkerDied(reason=reason):
            return f"the process of {event.node} died: {reason}"
        case OutputCut():
            return cut_text(event.node, event.body)
        case Settled(condition=condition, took_ms=took_ms):
            return f"settled: {condition}, after {took_ms / 1000:.2f} s"
        case Waited(took_ms=took_ms):
            return f"waited {took_ms / 1000:.2f} s: a message might still have come"
        case SendFailed(key=key, error=error):
            return f"{key} was not acknowledged: {error}"
        case ListenerError(error=error):
            return f"the listener of {event.node} failed: {error}"
        case Bound(variable=variable, consumers=consumers):
            return f"${variable} is {', '.join(consumers) or 'nobody'}"
        case RunTrouble(message=message):
            return f"trouble: {message}"
        case Fault():
            return _of_fault(event.body)
    return _of_change(event.node, event.body)


def _of_change(node: str, body: Body) -> str | None:
    """What steps change at the servers and in clients, and what they ask."""
    match body:
        case Subscribed(topic=topic, expression=expression):
            return f"{node} subscribes while it runs: {in_words({topic: expression})}"
        case Unsubscribed(topic=topic):
            return f"{node} unsubscribes from {topic}"
        case Recalled(key=key):
            return f"{node} takes {key} back"
        case RecallRefused(key=key, error=error):
            return f"{node} can't take {key} back: {error}"
        case Sought(topic=topic, to=to, queues=queues):
            places = ", ".join(queue.name for queue in queues)
            return f"{node} seeks to {to} in {topic}: {places}"
        case ConsumerSuspended():
            return f"{node} pulls no more"
        case ConsumerResumed():
            return f"{node} pulls again"
        case ListenerReleased():
            return f"the listener of {node} blocks no more"
        case OffsetsReset(group=group, topic=topic, queues=queues):
            offsets = ", ".join(f"{queue.name} {queue.offset}" for queue in queues)
            return f"the offsets of {group} for {topic} are set: {offsets}"
        case BrokerConfigured(broker=broker, settings=settings):
            return f"{broker} gets new settings: {_settings(settings)}"
        case TopicConfigured(topic=topic, settings=settings):
            return f"{topic} has the settings {_settings(settings)}"
        case GroupConfigured(group=group, settings=settings):
            return f"the group {group} has the settings {_settings(settings)}"
        case TopicDeleted(topic=topic, brokers=brokers):
            return f"{topic} is deleted on {', '.join(brokers)}"
        case GroupDeleted(group=group, brokers=brokers, offsets=offsets_too):
            return f"the group {group} is deleted on {', '.join(brokers)}" + (
                ", with its offsets" if offsets_too else ""
            )
        case FilesExpired(broker=broker, topic=topic):
            return f"{broker} has deleted expired files, which had messages of {topic}"
        case FilesLost(broker=broker, consumer=consumer, files=files, keep_bytes=int(keep)):
            return f"files of {broker or consumer} are cut after {keep} bytes: {', '.join(files)}"
        case FilesLost(broker=broker, consumer=consumer, files=files):
            return f"{broker or consumer} has lost files: {', '.join(files)}"
        case Asked(of=asked, request=request, status=status):
            return f"request {request} to {asked}: {status}"
        case MqadminRan(command=command):
            return f"mqadmin {' '.join(command)}"
    return None


def _settings(settings: Mapping[str, object]) -> str:
    words = {
        name: str(value).lower() if isinstance(value, bool) else value for name, value in settings.items()
    }
    return ", ".join(f"{name} {value}" for name, value in words.items())


def cut_text(consumer: str, cut: OutputCut) -> str:
    """How many bytes of a program's output its log leaves out."""
    what = f"{cut.left_out_bytes:,} bytes are left out of logs/{cut.log}"
    return f"{consumer} has printed more than its log keeps: {what}"


def _of_fault(body: Fault) -> str | None:
    match body:
        case FaultEffective(fault=fault, target=target, proof=proof):
            return f"{fault} of {target} takes effect" + (f" ({proof})" if proof else "")
        case FaultHealed(fault=fault, target=target) if fault not in KILLS:
            # A kill is not healed, only cleared away.
            return f"{fault} of {target} is healed"
    return None
