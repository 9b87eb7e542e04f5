"""From a history to the lanes of the timeline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.model import Event, MessageFate
from harness.reporters.base import Report
from harness.reporters.parts.classes import CLASS_WORDS
from harness.reporters.parts.lanes import Clock, Lane, Mark, Piece, Span, Window, gather, stretches
from harness.reporters.parts.story import beginning_ns
from harness.reporters.parts.text import ranges
from harness.reporters.parts.time_scale import Tick, TimeScale

WIDTH_PX = 1000.0
_QUIET = frozenset(
    (
        "offsets-observed",
        "tracks-observed",
        "pull-counts-observed",
        "moment-observed",
        "node-ready",
        "topic-created",
        "step-ended",
    )
)
"""Kinds that need no room of their own on the axis."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Everything that is drawn."""

    width: float
    ticks: tuple[Tick, ...]
    lanes: tuple[Lane, ...]
    windows: tuple[Window, ...]
    settles: tuple[float, ...]
    expressions: Mapping[str, int]
    """The stored expressions by the number of their colour."""


def timeline(run: Report) -> Timeline | None:
    """The timeline; None of an empty history."""
    if not run.events:
        return None
    return _Drawing(run).draw()


@dataclass(slots=True)
class _Drawing:
    """Draws one run."""

    run: Report
    clock: Clock = field(init=False)
    scale: TimeScale = field(init=False)
    expressions: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.clock = Clock(beginning_ns(self.run.events))
        times = [self.clock(event) for event in self.run.events if event.kind not in _QUIET]
        self.scale = TimeScale([*times, self.clock(self.run.events[-1])], WIDTH_PX)

    def draw(self) -> Timeline:
        lanes = [
            self._harness(),
            *self._stored(),
            *(self._consumer(name) for name in self.run.scenario.consumers),
            self._producer(),
            *self._nodes(),
        ]
        settles = [self.scale(self.clock(event)) for event in self._of("settled")]
        return Timeline(
            width=WIDTH_PX,
            ticks=tuple(self.scale.ticks(62)),
            lanes=tuple(lanes),
            windows=tuple(self._windows()),
            settles=tuple(settles),
            expressions=self.expressions,
        )

    # Pieces of the history -------------------------------------------------------------------------------

    def _of(self, *kinds: str) -> Iterator[Event]:
        return (event for event in self.run.events if event.kind in kinds)

    def _spans(self, pieces: Iterable[Piece]) -> tuple[Span, ...]:
        return tuple(
            Span(
                x=(x := self.scale(piece.begin)),
                width=max(1.5, self.scale(piece.end) - x),
                look=piece.look,
                text=piece.text,
                title=f"{piece.title}\n{piece.begin:.3f} s to {piece.end:.3f} s",
                event=piece.event,
            )
            for piece in pieces
        )

    def _mark(self, event: Event, look: str, title: str) -> Mark:
        seconds = self.clock(event)
        return Mark(self.scale(seconds), look, f"{title}\nat {seconds:.3f} s, event {event.n}", event.n)

    # Lanes ------------------------------------------------------------------------------------------------

    def _harness(self) -> Lane:
        changes = []
        for event in self._of("step-started", "step-ended"):
            seconds = self.clock(event)
            if event.kind == "step-ended":
                changes.append((seconds, "", "", "", event.n))
                continue
            word, line = str(event.data.get("step")), event.data.get("line")
            place = f", line {line} of the scenario" if line else ""
            number = event.data.get("index", 0) + 1
            changes.append((seconds, f"step step-{number % 2}", word, f"step {number}: {word}{place}", event.n))
        looks = {"settled": "settled", "bound": "bound", "trouble": "bad", "moment-observed": "moment"}
        marks = [
            self._mark(event, looks[event.kind], _harness_title(event)) for event in self._of(*looks)
        ]
        steps = self._spans(stretches(changes, self.scale.end))
        return Lane("harness", "steps", (steps,), gather(marks))

    def _stored(self) -> Iterator[Lane]:
        """A lane for each broker, group and topic: the stored expression as a coloured band."""
        changes: dict[tuple[str, str, str], list[tuple[float, str, str, str, int]]] = {}
        for event in self._of("subscription-observed"):
            group, broker, table = event.data["group"], event.data["broker"], event.data["subscriptions"]
            topics = {topic for name in self.run.scenario.members(group) for topic in self._topics(name)}
            for topic in sorted(topics):
                changes.setdefault((group, topic, broker), []).append(
                    self._stored_change(event, group, topic, table.get(topic))
                )
        for (group, topic, broker), own in sorted(changes.items()):
            band = self._spans(stretches(own, self.scale.end))
            yield Lane(f"{group} / {topic}", f"stored by {broker}", (band,))

    def _topics(self, consumer: str) -> Iterable[str]:
        return self.run.scenario.consumers[consumer].subscribe

    def _stored_change(
        self, event: Event, group: str, topic: str, stored: Mapping[str, Any] | None
    ) -> tuple[float, str, str, str, int]:
        seconds = self.clock(event)
        if stored is None:
            text = "not stored" if event.data.get("online") else ""
            look = "absent" if text else ""
            return (seconds, look, text, f"nothing stored for group {group}, topic {topic}", event.n)
        text = str(stored["expression"])
        number = self.expressions.setdefault(text, len(self.expressions) % 6)
        title = f"{event.data['broker']} holds {text!r} for group {group}, topic {topic}"
        return (seconds, f"tint tint-{number}", text or "(all)", title, event.n)

    def _consumer(self, name: str) -> Lane:
        spec = self.run.scenario.consumers[name]
        told = ", ".join(f"{topic} {text}" for topic, text in spec.subscribe.items())
        looks = {"received": "received", "listener-error": "bad", "worker-died": "bad"}
        marks = [
            self._mark(event, looks[event.kind], _consumer_title(event))
            for event in self._of(*looks)
            if event.node == name
        ]
        marks += [
            self._mark(event, "failed", f"the listener failed on {event.data['key']}")
            for event in self._of("consumed")
            if event.node == name and event.data.get("status") == "RECONSUME_LATER"
        ]
        life, ends = self._life(name)
        marks += [
            self._mark(event, "stopped" if event.kind == "consumer-stopped" else "killed", f"{name}: {why}")
            for event, why in ends
        ]
        rows = (self._spans(life), self._spans(self._owned(name, [event for event, _ in ends])))
        return Lane(name, told, rows, gather(marks))

    def _life(self, name: str) -> tuple[list[Piece], list[tuple[Event, str]]]:
        """Alive and paused stretches of a process, and how its lives ended."""
        changes, ends = [], []
        for event in self._of("consumer-starting", "consumer-started", "consumer-stopped", "worker-died"):
            if event.node != name:
                continue
            if event.kind in ("consumer-starting", "consumer-started"):
                look = "starting" if event.kind == "consumer-starting" else "alive"
                changes.append((event, look, "" if look == "starting" else "runs"))
            else:
                changes.append((event, "", ""))
                ends.append((event, "stopped" if event.kind == "consumer-stopped" else "died"))
        for event in self._of("fault-effective", "fault-healed"):
            fault, effective = event.data.get("fault"), event.kind == "fault-effective"
            if event.data.get("target") != name:
                continue
            if fault == "kill" and effective:
                changes.append((event, "", ""))
                ends.append((event, "killed"))
            elif fault == "pause":
                changes.append((event, "paused", "paused") if effective else (event, "alive", "runs"))
        ordered = sorted(changes, key=lambda change: change[0].n)
        pieces = stretches(
            [(self.clock(event), look, text, f"{name} {text or look}", event.n) for event, look, text in ordered],
            self.scale.end,
        )
        return pieces, ends

    def _owned(self, name: str, ends: Sequence[Event]) -> list[Piece]:
        changes = []
        for event in self._of("ownership-observed"):
            if event.data["consumer"] == name:
                text = _queues_text(event.data["queues"])
                look = "owned" if text else "owns-none"
                told = text or "no queue"
                changes.append((self.clock(event), look, told, f"{name} owns {told}", event.n))
        changes += [(self.clock(event), "", "", "", event.n) for event in ends]
        return stretches(sorted(changes, key=lambda change: change[4]), self.scale.end)

    def _producer(self) -> Lane:
        fates: dict[str, MessageFate] = {}
        for fate in self.run.outcome.messages:
            fates.setdefault(fate.key, fate)
        marks = []
        for event in self._of("sent", "send-failed"):
            data = event.data
            if event.kind == "send-failed":
                marks.append(self._mark(event, "bad", f"{data['key']} was not acknowledged: {data.get('error')}"))
                continue
            fate = fates.get(data["key"])
            became = f": {CLASS_WORDS[fate.message_class].text}" if fate else ""
            where = f"{data['broker']}:{data['queue_id']}, offset {data['queue_offset']}"
            look = f"sent class-{fate.message_class.value}" if fate else "sent"
            marks.append(self._mark(event, look, f"sent {data['key']} of tag {data['tag']} to {where}{became}"))
        return Lane("producer", "sends", ((),), gather(marks))

    def _nodes(self) -> Iterator[Lane]:
        """The servers, each from when it was ready to when a fault or the run ended it."""
        nodes = {event.node: str(event.data.get("role", "")) for event in self._of("node-ready")}
        for name, role in nodes.items():
            changes = []
            for event in self._of("node-ready", "fault-effective", "fault-healed"):
                fault, target = event.data.get("fault"), event.data.get("target")
                if event.kind == "node-ready" and event.node == name:
                    changes.append((self.clock(event), "alive", "runs", f"{name} runs", event.n))
                elif event.kind == "fault-effective" and target == name:
                    look = "" if fault == "kill" else "paused"
                    changes.append((self.clock(event), look, str(fault), f"{name}: {fault}", event.n))
                elif event.kind == "fault-healed" and target == name and fault != "kill":
                    changes.append((self.clock(event), "alive", "runs", f"{name} runs", event.n))
            yield Lane(name, role, (self._spans(stretches(changes, self.scale.end)),))

    def _windows(self) -> Iterator[Window]:
        """From the injection of a fault until it is healed, the target starts again, or the run ends."""
        for event in self._of("fault-injected"):
            fault, target = str(event.data.get("fault")), str(event.data.get("target"))
            end = next((self.clock(later) for later in self.run.events if _ends(event, later)), self.scale.end)
            x = self.scale(self.clock(event))
            yield Window(x, max(2.0, self.scale(end) - x), f"{fault} {target}", target)


def _ends(injected: Event, later: Event) -> bool:
    target = injected.data.get("target")
    if later.n <= injected.n:
        return False
    if later.kind == "fault-healed":
        return (later.data.get("fault"), later.data.get("target")) == (injected.data.get("fault"), target)
    return later.kind in ("consumer-starting", "node-ready") and later.node == target


def _harness_title(event: Event) -> str:
    data = event.data
    if event.kind == "settled":
        return f"settled: {data.get('condition')}: {data.get('seen')}"
    if event.kind == "bound":
        return f"${data['variable']} is {', '.join(data['consumers']) or 'nobody'}"
    if event.kind == "trouble":
        return f"trouble: {data.get('message')}"
    return f"observation `{data.get('moment')}` completed"


def _consumer_title(event: Event) -> str:
    data = event.data
    if event.kind == "received":
        again = f", delivery {data['reconsume_times'] + 1}" if data.get("reconsume_times") else ""
        where = f"{data['broker']}:{data['queue_id']}, offset {data['offset']}"
        return f"{event.node} got {data['key']} of tag {data['tag']} from {where}{again}"
    return f"{event.node}: {data.get('error') or data.get('reason')}"


def _queues_text(queues: Sequence[Mapping[str, Any]]) -> str:
    """`orders 0-1`; with several brokers `orders broker-a:0-1 broker-b:0`. Retry topics are left out."""
    shown = [one for one in queues if not str(one["topic"]).startswith("%")]
    brokers = {one["broker"] for one in shown}
    texts = []
    for topic in dict.fromkeys(one["topic"] for one in shown):
        parts = []
        for broker in sorted(brokers):
            ids = [one["queue_id"] for one in shown if (one["topic"], one["broker"]) == (topic, broker)]
            if ids:
                parts.append(f"{broker}:{ranges(ids)}" if len(brokers) > 1 else ranges(ids))
        texts.append(f"{topic} {' '.join(parts)}")
    return "; ".join(texts)
