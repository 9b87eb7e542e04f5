"""A history, gone through once: the few events that are of no single message, and of all others what facts need.

So a history of millions of messages takes no more memory than their keys.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from rocketchaos.harness.core.events import KINDS
from rocketchaos.harness.core.events.base import Body, Unknown
from rocketchaos.harness.core.events.clients import (
    ConsumerStarted,
    ConsumerStarting,
    ProgramSubscription,
    Subscribed,
)
from rocketchaos.harness.core.events.messages import Blocked, Consumed, Received, SendInvoked, Sent
from rocketchaos.harness.core.events.observed import DashboardTracksObserved, TracksObserved
from rocketchaos.harness.facts.message_witnesses import Witnesses

OF_MESSAGES = (SendInvoked, Sent, Received, Consumed, Blocked, TracksObserved, DashboardTracksObserved)
"""Kinds with some events for each message."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An event, with its time since the first one of the run."""

    n: int
    at_ms: float
    node: str
    body: Body


@dataclass(frozen=True, slots=True)
class LastOfQueue:
    """The event with a queue's greatest offset, without retries: of all sends, or of a member's deliveries."""

    offset: int
    n: int
    at_ms: float


@dataclass(slots=True)
class Story:
    """What a history tells, as far as facts are made from it."""

    entries: list[Entry] = field(default_factory=list)
    """The events that are of no single message, in their order."""
    witnesses: Witnesses = field(default_factory=Witnesses)
    first_sent_ms: float | None = None
    """When the first message was acknowledged."""
    sent: Counter[str] = field(default_factory=Counter)
    """By topic: how many messages were acknowledged."""
    sent_keys: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """By topic: the XOR of the hashes of their keys."""
    last_sent: dict[tuple[str, str], LastOfQueue] = field(default_factory=dict)
    """By topic and queue."""
    last_received: dict[tuple[str, str, str], LastOfQueue] = field(default_factory=dict)
    """By member, topic and queue."""
    event_count: int = 0
    first_ns: int | None = None
    first_wall_ms: int = 0
    last_ns: int = 0
    apart_ms: tuple[float, float] | None = None
    """The least and the greatest distance of the wall clock from the monotonic one."""

    def add(self, n: int, mono_ns: int, wall_ms: int, node: str, body: Body) -> None:
        """One more event; they come in their order."""
        if self.first_ns is None:
            self.first_ns, self.first_wall_ms = mono_ns, wall_ms
        self.event_count += 1
        self.last_ns = max(self.last_ns, mono_ns)
        apart = float(wall_ms) - float(mono_ns) / 1e6
        least, greatest = self.apart_ms or (apart, apart)
        self.apart_ms = min(least, apart), max(greatest, apart)
        at_ms = (mono_ns - self.first_ns) / 1e6
        self.witnesses.add(mono_ns, node, body)
        if not isinstance(body, OF_MESSAGES):
            self.entries.append(Entry(n, at_ms, node, body))
        elif isinstance(body, Sent):
            self._add_sent(n, at_ms, body)
        elif isinstance(body, Received) and body.reconsume_times == 0 and body.offset is not None:
            queue = (node, body.topic, body.queue)
            last = self.last_received.get(queue)
            if last is None or body.offset >= last.offset:
                self.last_received[queue] = LastOfQueue(body.offset, n, at_ms)

    def _add_sent(self, n: int, at_ms: float, body: Sent) -> None:
        self.sent[body.topic] += 1
        self.sent_keys[body.topic] ^= hash(body.key)
        # Workers' clocks may be a little apart: the first event isn't always the earliest.
        self.first_sent_ms = at_ms if self.first_sent_ms is None else min(at_ms, self.first_sent_ms)
        last = self.last_sent.get((body.topic, body.queue))
        if last is None or body.queue_offset >= last.offset:
            self.last_sent[body.topic, body.queue] = LastOfQueue(body.queue_offset, n, at_ms)

    @property
    def last_ms(self) -> float:
        """When the last event was."""
        return (self.last_ns - (self.first_ns or 0)) / 1e6

    @property
    def groups(self) -> set[str]:
        """Those that the history knows."""
        named = (getattr(entry.body, "group", None) for entry in self.entries)
        return {name for name in named if isinstance(name, str)}

    @property
    def consumed_topics(self) -> set[tuple[str, str]]:
        """Groups, and topics of which each has a line for every message: those of the members that ever started.

        As in `assertions.oracle.fates`; which group the others are of, only the scenario tells.
        """
        topics: dict[str, set[str]] = defaultdict(set)
        for entry in self.entries:
            if isinstance(entry.body, ConsumerStarting | ProgramSubscription):
                topics[entry.node].update(entry.body.subscribe)
            elif isinstance(entry.body, Subscribed):
                topics[entry.node].add(entry.body.topic)
        return {
            (entry.body.group, topic)
            for entry in self.entries
            if isinstance(entry.body, ConsumerStarted)
            for topic in topics[entry.node]
        }


class Line(msgspec.Struct, frozen=True):
    """A line of `events.jsonl`; `data` isn't read yet."""

    n: int
    mono_ns: int
    wall_ms: int
    run: str
    node: str
    kind: str
    data: msgspec.Raw
    schema_version: int | None = None


_LINES = msgspec.json.Decoder(Line)
_BODIES: Mapping[str, msgspec.json.Decoder[Body]] = {
    word: msgspec.json.Decoder(kind) for word, kind in KINDS.items()
}
_UNKNOWN = msgspec.json.Decoder(Unknown)
_LAST_NS = 2**62
"""After 146 years."""


def line_of(text: bytes) -> tuple[Line, Body]:
    """An event as written in a file.

    Raises:
        ValueError: it is no event, or lacks what belongs to its kind, or has an impossible time.
    """
    if not text.isascii():
        text.decode("utf-8")  # msgspec doesn't look at what it skips
    line = _LINES.decode(text)
    if not 0 <= line.mono_ns <= _LAST_NS:
        raise ValueError(f"no time of a run: {line.mono_ns}")
    return line, _BODIES.get(line.kind, _UNKNOWN).decode(line.data)
