"""From a history to the lanes of the timeline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rocketchaos.harness.core.message_classes import CLASS_WORDS
from rocketchaos.harness.core.model import Event, MessageFate
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.lanes import (
    Change,
    Clock,
    Lane,
    Mark,
    Piece,
    Span,
    Window,
    gather,
    stretches,
)
from rocketchaos.harness.reporting.parts.process_times import (
    consumer_life,
    owned_queues_over_time,
    server_life,
)
from rocketchaos.harness.reporting.parts.story import beginning_ns
from rocketchaos.harness.reporting.parts.time_scale import Tick, TimeScale

WIDTH_PX = 1000.0
TINTS = 6
"""So many colours the style sheet has for stored expressions; the text tells them apart anyway."""
_QUIET = frozenset(
    (
        "offsets-observed",
        "tracks-observed",
        "dashboard-tracks-observed",
        "dashboard-connections-observed",
        "dashboard-progress-observed",
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
        open_steps: list[Event] = []
        for event in self._of("step-started", "step-ended"):
            if event.kind == "step-started":
                open_steps.append(event)
            else:
                # A step inside another ends before it; then the outer one goes on.
                open_steps = [one for one in open_steps if not _is_same_step(one, event)]
            changes.append(_step_change(self.clock(event), event, open_steps))
        looks = {"settled": "settled", "bound": "bound", "trouble": "bad", "moment-observed": "moment"}
        marks = [self._mark(event, looks[event.kind], _harness_title(event)) for event in self._of(*looks)]
        steps = self._spans(stretches(changes, self.scale.end))
        return Lane("harness", "steps", (steps,), gather(marks))

    def _stored(self) -> Iterator[Lane]:
        """A lane for each broker, group and topic: the stored expression as a coloured band."""
        changes: dict[tuple[str, str, str], list[Change]] = {}
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
    ) -> Change:
        seconds = self.clock(event)
        if stored is None:
            text = "not stored" if event.data.get("online") else ""
            look = "absent" if text else ""
            return Change(seconds, look, text, f"nothing stored for group {group}, topic {topic}", event.n)
        text = str(stored["expression"])
        number = self.expressions.setdefault(text, len(self.expressions) % TINTS)
        title = f"{event.data['broker']} holds {text!r} for group {group}, topic {topic}"
        return Change(seconds, f"tint tint-{number}", text or "(all)", title, event.n)

    def _consumer(self, name: str) -> Lane:
        spec = self.run.scenario.consumers[name]
        told = ", ".join(f"{topic} {text}" for topic, text in spec.expressions.items())
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
        end = self.scale.end
        life, ends = consumer_life(self.run.events, name, self.clock, end)
        marks += [
            self._mark(
                event, "stopped" if event.kind == "consumer-stopped" else "killed", _end_title(name, event)
            )
            for event in ends
        ]
        owned = owned_queues_over_time(self.run.events, name, ends, self.clock, end)
        rows = (self._spans(life), self._spans(owned))
        return Lane(name, told, rows, gather(marks))

    def _producer(self) -> Lane:
        fates: dict[str, MessageFate] = {}
        for known in self.run.outcome.messages:
            fates.setdefault(known.key, known)
        marks = []
        for event in self._of("sent", "send-failed"):
            data = event.data
            if event.kind == "send-failed":
                marks.append(
                    self._mark(event, "bad", f"{data['key']} was not acknowledged: {data.get('error')}")
                )
                continue
            fate = fates.get(data["key"])
            became = f": {CLASS_WORDS[fate.message_class].text}" if fate else ""
            where = f"{data['broker']}:{data['queue_id']}, offset {data['queue_offset']}"
            look = f"sent class-{fate.message_class.value}" if fate else "sent"
            marks.append(
                self._mark(event, look, f"sent {data['key']} of tag {data['tag']} to {where}{became}")
            )
        return Lane("producer", "sends", ((),), gather(marks))

    def _nodes(self) -> Iterator[Lane]:
        """The servers, each from when it was ready to when a fault or the run ended it."""
        nodes = {event.node: str(event.data.get("role", "")) for event in self._of("node-ready")}
        for name, role in nodes.items():
            life = server_life(self.run.events, name, self.clock, self.scale.end)
            yield Lane(name, role, (self._spans(life),))

    def _windows(self) -> Iterator[Window]:
        """From the injection of a fault until it is healed, the target starts again, or the run ends."""
        for event in self._of("fault-injected"):
            fault, target = str(event.data.get("fault")), str(event.data.get("target"))
            end = next(
                (self.clock(later) for later in self.run.events if _ends(event, later)), self.scale.end
            )
            x = self.scale(self.clock(event))
            yield Window(x, max(2.0, self.scale(end) - x), f"{fault} {target}", target)


def _ends(injected: Event, later: Event) -> bool:
    target = injected.data.get("target")
    if later.n <= injected.n:
        return False
    if later.kind == "fault-healed":
        return (later.data.get("fault"), later.data.get("target")) == (injected.data.get("fault"), target)
    return later.kind in ("consumer-starting", "node-ready") and later.node == target


def _is_same_step(one: Event, other: Event) -> bool:
    return all(one.data.get(key) == other.data.get(key) for key in ("index", "place", "iteration"))


def _step_change(seconds: float, event: Event, open_steps: list[Event]) -> Change:
    """The bar of the innermost step from here on; of several at the same time the last that began."""
    if not open_steps:
        return Change(seconds, "", "", "", event.n)
    data = open_steps[-1].data
    word, line, iteration = str(data.get("step")), data.get("line"), data.get("iteration")
    number = data.get("index", 0) + 1
    shade = data.get("place", (number,))[-1] + len(data.get("place", ())) + (iteration or 0)
    title = f"step {number}: {word}" + (f", line {line} of the scenario" if line else "")
    title += f", iteration {iteration}" if iteration is not None else ""
    return Change(seconds, f"step step-{shade % 2}", word, title, event.n)


def _harness_title(event: Event) -> str:
    data = event.data
    if event.kind == "settled":
        return f"settled: {data.get('condition')}: {data.get('seen')}"
    if event.kind == "bound":
        return f"${data['variable']} is {', '.join(data['consumers']) or 'nobody'}"
    if event.kind == "trouble":
        return f"trouble: {data.get('message')}"
    return f"observation `{data.get('moment')}` completed"


def _end_title(name: str, event: Event) -> str:
    if event.kind == "fault-effective":
        return f"{name}: {event.data.get('fault')}: {event.data.get('proof')}"
    if event.kind == "consumer-stopped":
        return f"{name} has stopped"
    return f"{name} died: {event.data.get('reason')}"


def _consumer_title(event: Event) -> str:
    data = event.data
    if event.kind == "received":
        again = f", delivery {data['reconsume_times'] + 1}" if data.get("reconsume_times") else ""
        where = f"{data['broker']}:{data['queue_id']}, offset {data['offset']}"
        return f"{event.node} got {data['key']} of tag {data['tag']} from {where}{again}"
    return f"{event.node}: {data.get('error') or data.get('reason')}"
