"""When processes ran, stood still and ended, and what consumers owned meanwhile."""

from collections.abc import Mapping, Sequence

from rocketchaos.harness.core.events.observed import OwnedQueue, OwnershipObserved
from rocketchaos.harness.core.events.servers import FaultEffective, FaultHealed
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.core.text import ranges
from rocketchaos.harness.language.fault_effects import ENDS, KILLS, OVER_AT_ONCE, TOLD_BY_CONSUMERS
from rocketchaos.harness.reporting.parts.lanes import Change, Clock, Piece, stretches

_CONSUMER_LOOKS: Mapping[str, tuple[str, str]] = {
    "consumer-starting": ("starting", ""),
    "consumer-started": ("alive", "runs"),
    "consumer-stopped": ("", ""),
    "worker-died": ("", ""),
}
_GONE, _RUNS, _STANDS = ("", ""), ("alive", "runs"), "paused"


def consumer_life(
    events: Sequence[Event], name: str, clock: Clock, end: float
) -> tuple[list[Piece], list[Event]]:
    """The stretches of a consumer's process, and the events with which its lives ended."""
    changes, ends = [], []
    for event in events:
        if event.kind in _CONSUMER_LOOKS and event.node == name:
            style, text = _CONSUMER_LOOKS[event.kind]
        elif _strikes(event, name):
            style, text = _after_fault(event)
        else:
            continue
        if not style:
            ends.append(event)
        changes.append(Change(clock(event), style, text, f"{name} {text or style}", event.n))
    return stretches(changes, end), ends


def server_life(events: Sequence[Event], name: str, clock: Clock, end: float) -> list[Piece]:
    """The stretches of a server: from when it is ready to when a fault, or the run, ends it."""
    changes = []
    for event in events:
        if event.kind == "node-ready" and event.node == name:
            style, text = _RUNS
        elif _strikes(event, name):
            style, text = _after_fault(event)
        else:
            continue
        changes.append(Change(clock(event), style, text, f"{name} {text or 'is gone'}", event.n))
    return stretches(changes, end)


def _strikes(event: Event, name: str) -> bool:
    """Whether a fault takes hold of the process, or lets go of it; nothing heals a kill.

    Of a process that was terminated its own `consumer-stopped` tells.
    """
    match event.body:
        case FaultEffective(fault=fault, target=target):
            return target == name and fault not in TOLD_BY_CONSUMERS
        case FaultHealed(fault=fault, target=target):
            return target == name and fault not in TOLD_BY_CONSUMERS | KILLS
    return False


def _after_fault(event: Event) -> tuple[str, str]:
    if not isinstance(event.body, FaultEffective):
        return _RUNS
    fault = event.body.fault
    if fault in OVER_AT_ONCE:
        return _RUNS
    return _GONE if fault in ENDS else (_STANDS, fault)


def owned_queues_over_time(
    events: Sequence[Event], name: str, ends: Sequence[Event], clock: Clock, end: float
) -> list[Piece]:
    """What a consumer said of its queues, until it said something else or was gone."""
    gone = {event.n for event in ends}
    changes = []
    for event in events:
        if event.n in gone:
            changes.append(Change(clock(event), "", "", "", event.n))
        elif isinstance(event.body, OwnershipObserved) and event.body.consumer == name:
            text = _queues_text(event.body.queues)
            style, title = ("owned", text) if text else ("owns-none", "no queue")
            changes.append(Change(clock(event), style, title, f"{name} owns {title}", event.n))
    return stretches(changes, end)


def _queues_text(queues: Sequence[OwnedQueue]) -> str:
    """`orders 0-1`; with several brokers `orders broker-a:0-1 broker-b:0`. Retry topics are left out."""
    shown = [queue for queue in queues if not queue.topic.startswith("%")]
    brokers = {queue.broker for queue in shown}
    texts = []
    for topic in dict.fromkeys(queue.topic for queue in shown):
        parts = []
        for broker in sorted(brokers):
            ids = [queue.queue_id for queue in shown if (queue.topic, queue.broker) == (topic, broker)]
            if ids:
                parts.append(f"{broker}:{ranges(ids)}" if len(brokers) > 1 else ranges(ids))
        texts.append(f"{topic} {' '.join(parts)}")
    return "; ".join(texts)
