"""What happened, in a few lines: who started, who held the subscription, what was sent, who got it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rocketchaos.harness.core.model import Event
from rocketchaos.harness.core.text import counted, ranges
from rocketchaos.harness.language.fault_registry import KILLS

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
    """When the first step began; of a run that came to no step, its first event."""
    steps = [event for event in events if event.kind == "step-started"]
    chosen = steps[:1] or list(events[:1])
    return chosen[0].mono_ns if chosen else 0


def story(events: Sequence[Event]) -> list[Line]:
    """The lines, in order of time; where there are too many, the middle is left out and the line says so."""
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
    sends: list[Event] = field(default_factory=list)
    deliveries: list[Event] = field(default_factory=list)
    stored: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)

    def tell(self, events: Sequence[Event]) -> list[Line]:
        for event in events:
            if event.kind == "sent":
                self.sends.append(event)
            elif event.kind == "received":
                self.deliveries.append(event)
            elif event.kind == "subscription-observed":
                self._subscription(event)
            elif event.kind in _TELL and not _is_burial(event):
                self._flush()
                self._add(event, _TELL[event.kind](event.node, event.data))
        self._flush()
        return sorted(self.lines, key=lambda line: line.seconds)

    def _add(self, event: Event, text: str) -> None:
        self.lines.append(Line((event.mono_ns - self.zero_ns) / 1e9, text, event.n))

    def _flush(self) -> None:
        for topic, tag in dict.fromkeys((one.data["topic"], one.data["tag"]) for one in self.sends):
            own = [one for one in self.sends if (one.data["topic"], one.data["tag"]) == (topic, tag)]
            queues = Counter(f"{one.data['broker']}:{one.data['queue_id']}" for one in own)
            what = f"of tag {tag}" if tag is not None else "without a tag"
            each = f", {min(queues.values())} to each" if len(set(queues.values())) == 1 else ""
            self._add(
                own[0],
                f"{counted(len(own), 'message')} {what} sent to {topic}, to {counted(len(queues), 'queue')}{each}",
            )
        for consumer in dict.fromkeys(one.node for one in self.deliveries):
            mine = [one for one in self.deliveries if one.node == consumer]
            again = sum(1 for one in mine if one.data.get("reconsume_times"))
            self._add(
                mine[0],
                f"{consumer} got {counted(len(mine), 'message')}, from queues {_queues_of(mine)}"
                + (f"; {again} of them delivered again" if again else ""),
            )
        self.sends, self.deliveries = [], []

    def _subscription(self, event: Event) -> None:
        group, broker = event.data["group"], event.data["broker"]
        table = event.data["subscriptions"]
        # The retry topic is stored for every group, and says nothing.
        held = {topic: str(one["expression"]) for topic, one in table.items() if not topic.startswith("%")}
        if self.stored.get((group, broker), {}) == held:
            return
        self.stored[(group, broker)] = held
        self._flush()
        told = ", ".join(f"{topic} {text!r}" for topic, text in sorted(held.items()))
        self._add(event, f"{broker} holds as the subscription of group {group}: {told or 'nothing'}")


def _is_burial(event: Event) -> bool:
    """A kill is not healed, only cleared away."""
    return event.kind == "fault-healed" and event.data.get("fault") in KILLS


def _queues_of(received: Sequence[Event]) -> str:
    by_broker: dict[str, list[int]] = {}
    for event in received:
        by_broker.setdefault(event.data["broker"], []).append(event.data["queue_id"])
    return ", ".join(f"{broker}:{ranges(ids)}" for broker, ids in sorted(by_broker.items()))


def _starting(node: str, data: Mapping[str, Any]) -> str:
    told = ", ".join(f"{topic} {text!r}" for topic, text in data.get("subscribe", {}).items())
    return f"{node} starts, subscribing {told}"


def _fault(_node: str, data: Mapping[str, Any]) -> str:
    proof = f" ({data['proof']})" if data.get("proof") else ""
    return f"{data.get('fault')} of {data.get('target')} takes effect{proof}"


def _healed(_node: str, data: Mapping[str, Any]) -> str:
    return f"{data.get('fault')} of {data.get('target')} is healed"


def _bound(_node: str, data: Mapping[str, Any]) -> str:
    return f"${data['variable']} is {', '.join(data['consumers']) or 'nobody'}"


_TELL: Mapping[str, Callable[[str, Mapping[str, Any]], str]] = {
    "consumer-starting": _starting,
    "consumer-stopped": lambda node, _: f"{node} has stopped",
    "worker-died": lambda node, data: f"the process of {node} died: {data.get('reason', '')}",
    "fault-effective": _fault,
    "fault-healed": _healed,
    "bound": _bound,
    "settled": lambda _, data: (
        f"settled: {data.get('condition')}, after {data.get('took_ms', 0) / 1000:.2f} s"
    ),
    "waited": lambda _, data: (
        f"waited {data.get('took_ms', 0) / 1000:.2f} s: a message might still have come"
    ),
    "send-failed": lambda _, data: f"{data.get('key')} was not acknowledged: {data.get('error')}",
    "listener-error": lambda node, data: f"the listener of {node} failed: {data.get('error')}",
    "trouble": lambda _, data: f"trouble: {data.get('message')}",
}
"""By kind; what is not here is told by the sends, the deliveries and the subscriptions, or not at all."""
