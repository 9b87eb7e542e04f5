"""From a history to the lanes of the timeline."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from rocketchaos.harness.core.events.base import Body
from rocketchaos.harness.core.events.clients import ConsumerStarting, ConsumerStopped, WorkerDied
from rocketchaos.harness.core.events.messages import Consumed, ListenerError, Received, SendFailed, Sent
from rocketchaos.harness.core.events.observed import StoredSubscription, SubscriptionObserved
from rocketchaos.harness.core.events.run import (
    Bound,
    MomentObserved,
    RunTrouble,
    Settled,
    StepEnded,
    StepStarted,
)
from rocketchaos.harness.core.events.servers import FaultEffective, FaultHealed, FaultInjected, NodeReady
from rocketchaos.harness.core.message_classes import CLASS_WORDS
from rocketchaos.harness.core.model import Event, MessageFate
from rocketchaos.harness.language.expressions import text_of
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
from rocketchaos.harness.reporting.parts.subscriptions import Subscriptions, subscriptions
from rocketchaos.harness.reporting.parts.time_scale import Tick, TimeScale

B = TypeVar("B", bound=Body)
WIDTH_PX = 1000.0
TINTS = 6
"""How many colours the style sheet has for stored expressions; the text tells them apart anyway."""
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
    own: Subscriptions = field(init=False)
    expressions: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.clock = Clock(beginning_ns(self.run.events))
        times = [self.clock(event) for event in self.run.events if event.kind not in _QUIET]
        self.own = subscriptions(self.run)
        self.scale = TimeScale([*times, self.clock(self.run.events[-1])], WIDTH_PX)

    def draw(self) -> Timeline:
        lanes = [
            self._harness(),
            *self._stored(),
            *(self._consumer(name) for name in self.run.scenario.consumers),
            self._producer(),
            *self._nodes(),
        ]
        settles = [self.scale(self.clock(event)) for event in self._of(Settled)]
        return Timeline(
            width=WIDTH_PX,
            ticks=tuple(self.scale.ticks(62)),
            lanes=tuple(lanes),
            windows=tuple(self._windows()),
            settles=tuple(settles),
            expressions=self.expressions,
        )

    # Pieces of the history -------------------------------------------------------------------------------

    def _of(self, *kinds: type[B]) -> Iterator[Event[B]]:
        return (cast("Event[B]", event) for event in self.run.events if isinstance(event.body, kinds))

    def _spans(self, pieces: Iterable[Piece]) -> tuple[Span, ...]:
        return tuple(
            Span(
                x=(x := self.scale(piece.begin)),
                width=max(1.5, self.scale(piece.end) - x),
                style=piece.style,
                text=piece.text,
                title=f"{piece.title}\n{piece.begin:.3f} s to {piece.end:.3f} s",
                event=piece.event,
            )
            for piece in pieces
        )

    def _mark(self, event: Event, style: str, title: str) -> Mark:
        seconds = self.clock(event)
        return Mark(self.scale(seconds), style, f"{title}\nat {seconds:.3f} s, event {event.n}", event.n)

    # Lanes ------------------------------------------------------------------------------------------------

    def _harness(self) -> Lane:
        changes = []
        open_steps: list[StepStarted] = []
        for event in self._of(StepStarted, StepEnded):
            if isinstance(event.body, StepStarted):
                open_steps.append(event.body)
            else:
                # A step inside another ends before it; then the outer one goes on.
                ended = event.body.identity
                open_steps = [open_step for open_step in open_steps if open_step.identity != ended]
            changes.append(_step_change(self.clock(event), event, open_steps))
        styles = {Settled: "settled", Bound: "bound", RunTrouble: "bad", MomentObserved: "moment"}
        marks = [
            self._mark(event, style, _harness_title(event.body))
            for event in self.run.events
            if (style := styles.get(type(event.body)))
        ]
        steps = self._spans(stretches(changes, self.scale.end))
        return Lane("harness", "steps", (steps,), gather(marks))

    def _stored(self) -> Iterator[Lane]:
        """A lane for each broker, group and topic: the stored expression as a coloured band."""
        changes: dict[tuple[str, str, str], list[Change]] = {}
        for event in self._of(SubscriptionObserved):
            group, broker, table = event.body.group, event.body.broker, event.body.subscriptions
            topics = {topic for name in self.run.scenario.members(group) for topic in self.own[name]}
            for topic in sorted(topics):
                changes.setdefault((group, topic, broker), []).append(
                    self._stored_change(event, group, topic, table.get(topic))
                )
        for (group, topic, broker), own in sorted(changes.items()):
            band = self._spans(stretches(own, self.scale.end))
            yield Lane(f"{group} / {topic}", f"stored by {broker}", (band,))

    def _stored_change(
        self,
        event: Event[SubscriptionObserved],
        group: str,
        topic: str,
        stored: StoredSubscription | None,
    ) -> Change:
        seconds = self.clock(event)
        if stored is None:
            text = "not stored" if event.body.online else ""
            style = "absent" if text else ""
            return Change(seconds, style, text, f"nothing stored for group {group}, topic {topic}", event.n)
        text = stored.expression
        number = self.expressions.setdefault(text, len(self.expressions) % TINTS)
        title = f"{event.body.broker} holds {text!r} for group {group}, topic {topic}"
        return Change(seconds, f"tint tint-{number}", text or "(all)", title, event.n)

    def _consumer(self, name: str) -> Lane:
        expressions = ", ".join(
            f"{topic} {text_of(expression)}" for topic, expression in self.own[name].items()
        )
        styles = {Received: "received", ListenerError: "bad", WorkerDied: "bad"}
        marks = [
            self._mark(event, style, _consumer_title(event))
            for event in self.run.events
            if event.node == name and (style := styles.get(type(event.body)))
        ]
        marks += [
            self._mark(event, "failed", f"the listener failed on {event.body.key}")
            for event in self._of(Consumed)
            if event.node == name and event.body.status == "RECONSUME_LATER"
        ]
        end = self.scale.end
        life, ends = consumer_life(self.run.events, name, self.clock, end)
        marks += [
            self._mark(
                event,
                "stopped" if isinstance(event.body, ConsumerStopped) else "killed",
                _end_title(name, event),
            )
            for event in ends
        ]
        owned = owned_queues_over_time(self.run.events, name, ends, self.clock, end)
        rows = (self._spans(life), self._spans(owned))
        return Lane(name, expressions, rows, gather(marks))

    def _producer(self) -> Lane:
        fates: dict[str, MessageFate] = {}
        for known in self.run.outcome.messages:
            fates.setdefault(known.key, known)
        marks = []
        for event in self.run.events:
            body = event.body
            if isinstance(body, SendFailed):
                marks.append(self._mark(event, "bad", f"{body.key} was not acknowledged: {body.error}"))
            if not isinstance(body, Sent):
                continue
            fate = fates.get(body.key)
            became = f": {CLASS_WORDS[fate.message_class].text}" if fate else ""
            where = f"{body.queue}, offset {body.queue_offset}"
            style = f"sent class-{fate.message_class.value}" if fate else "sent"
            marks.append(self._mark(event, style, f"sent {body.key} of tag {body.tag} to {where}{became}"))
        return Lane("producer", "sends", ((),), gather(marks))

    def _nodes(self) -> Iterator[Lane]:
        """The servers, each from when it was ready to when a fault or the run ended it."""
        nodes = {event.node: event.body.role for event in self._of(NodeReady)}
        for name, role in nodes.items():
            life = server_life(self.run.events, name, self.clock, self.scale.end)
            yield Lane(name, role, (self._spans(life),))

    def _windows(self) -> Iterator[Window]:
        """From the injection of a fault until it is healed, the target starts again, or the run ends."""
        for event in self._of(FaultInjected):
            fault, target = event.body.identity
            end = next(
                (self.clock(later) for later in self.run.events if _ends(event, later)), self.scale.end
            )
            x = self.scale(self.clock(event))
            yield Window(x, max(2.0, self.scale(end) - x), f"{fault} {target}", target)


def _ends(injected: Event[FaultInjected], later: Event) -> bool:
    if later.n <= injected.n:
        return False
    if isinstance(later.body, FaultHealed):
        return later.body.identity == injected.body.identity
    return isinstance(later.body, ConsumerStarting | NodeReady) and later.node == injected.body.target


def _step_change(seconds: float, event: Event, open_steps: list[StepStarted]) -> Change:
    """The bar of the innermost step from here on; of several at the same time the last that began."""
    if not open_steps:
        return Change(seconds, "", "", "", event.n)
    step = open_steps[-1]
    word, line, iteration = step.step, step.line, step.iteration
    number = step.index + 1
    shade = (step.place or (number,))[-1] + len(step.place) + (iteration or 0)
    title = f"step {number}: {word}" + (f", line {line} of the scenario" if line else "")
    title += f", iteration {iteration}" if iteration is not None else ""
    return Change(seconds, f"step step-{shade % 2}", word, title, event.n)


def _harness_title(body: Body) -> str:
    match body:
        case Settled(condition=condition, seen=seen):
            return f"settled: {condition}: {seen}"
        case Bound(variable=variable, consumers=consumers):
            return f"${variable} is {', '.join(consumers) or 'nobody'}"
        case RunTrouble(message=message):
            return f"trouble: {message}"
        case MomentObserved(moment=moment):
            return f"observation `{moment}` completed"
    raise TypeError(body)


def _end_title(name: str, event: Event) -> str:
    match event.body:
        case FaultEffective(fault=fault, proof=proof):
            return f"{name}: {fault}: {proof}"
        case WorkerDied(reason=reason):
            return f"{name} died: {reason}"
    return f"{name} has stopped"


def _consumer_title(event: Event) -> str:
    match event.body:
        case Received(line=str(line)) as got:
            return f"{event.node} reported that it handled {got.key} of tag {got.tag}: {line}"
        case Received() as got:
            again = f", delivery {got.reconsume_times + 1}" if got.reconsume_times else ""
            return f"{event.node} got {got.key} of tag {got.tag} from {got.queue}, offset {got.offset}{again}"
        case ListenerError(error=error):
            return f"{event.node}: {error}"
        case WorkerDied(reason=reason):
            return f"{event.node}: {reason}"
    raise TypeError(event)
