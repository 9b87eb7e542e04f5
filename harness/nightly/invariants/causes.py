"""The causes of repeated messages and of offsets that run back: everything that moves queues between members.
Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from rocketchaos.assertions.completeness import patience_ms
from rocketchaos.assertions.fault_view import DISTURBANCES, group_of
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.observed import OwnershipObserved, SubscriptionObserved
from rocketchaos.harness.core.events.servers import (
    Fault,
    FaultEffective,
    FaultHealed,
    FaultInjected,
    NodeReady,
)
from rocketchaos.harness.core.model import Event

_BEGINS = {"consumer-started": "consumer-starting", "consumer-stopped": "consumer-stopping"}


@dataclass(frozen=True, slots=True)
class Move:
    """An event after which queues may change owners."""

    since_ns: int
    """It didn't happen before this. If the harness caused it, that is the time of the event."""
    event: Event
    """It had happened by this."""

    @property
    def until_ns(self) -> int:
        """When it had happened."""
        return self.event.mono_ns


def moving(view: RunView, group: str, first: Event, last: Event) -> list[Move]:
    """Everything between two events, or shortly before, after which its queues may change owners. These are acts
    of the harness on a member, a node, the network or an offset; without one, an observed change of connections or
    queues. Shortly before: a rebalance that is under way when a message comes may take it to the next owner.
    """
    earliest_ns = first.mono_ns - patience_ms(view, [group], first.n) * 1_000_000
    return [
        move for move in movers(view, group) if earliest_ns <= move.until_ns and move.since_ns <= last.mono_ns
    ]


def movers(view: RunView, group: str) -> Iterator[Move]:
    """Everything after which queues of the group may change owners, not in order. Ownership is only observed from
    time to time. If another event has moved queues since the look before, that event is the reason, and has its
    own time. Otherwise they changed owners at any time since then.
    """
    moves = [*_done(view, group), *_seen_changes(view, group, SubscriptionObserved)]
    yield from moves
    for move in _seen_changes(view, group, OwnershipObserved):
        known = any(move.since_ns <= item.until_ns and item.since_ns <= move.until_ns for item in moves)
        yield Move(move.until_ns, move.event) if known else move


def _done(view: RunView, group: str) -> Iterator[Move]:
    """The acts of the harness, and its observations."""
    members = set(view.scenario.members(group))
    for event in view.events:
        if isinstance(event.body, Fault):
            if concerns(view, group, event):
                yield Move(event.mono_ns, event)
        elif isinstance(event.body, NodeReady) or (
            event.kind in DISTURBANCES and (event.node in members or group_of(event) == group)
        ):
            yield Move(event.mono_ns, event)


def concerns(view: RunView, group: str, fault: Event) -> bool:
    """Whether a fault is one of the group's members, of a node, or of a way between them."""
    known = {*view.scenario.members(group), *view.scenario.cluster.nodes}
    return isinstance(fault.body, Fault) and bool(fault.body.ends & known)


def began_ns(view: RunView, move: Move) -> int:
    """The beginning of the act that a move ends, or is part of: a fault's injection, even if it is healed; the
    begin of a start or shutdown. A member may hold messages that are as old.
    """
    event = move.event
    before = [item for item in view.events if item.n < event.n]
    opened: list[Event] = []
    if isinstance(event.body, FaultEffective | FaultHealed):
        same = event.body.identity
        own = [item for item in before if isinstance(item.body, Fault) and item.body.identity == same]
        opened = [item for item in own if isinstance(item.body, FaultInjected)] or own
    elif event.kind in _BEGINS:
        opened = [item for item in before if (item.kind, item.node) == (_BEGINS[event.kind], event.node)]
    return opened[-1].mono_ns if opened else move.since_ns


def _seen_changes(
    view: RunView, group: str, kind: type[SubscriptionObserved | OwnershipObserved]
) -> Iterator[Move]:
    """Looks that show other members, connections or queues than the look before at the same.

    When that changed is not seen: at any time since the look before was begun. Where the history doesn't tell
    that, since the one that was written down.
    """
    last: dict[str, tuple[object, Event]] = {}
    for event in view.of_kind(kind):
        if event.body.group != group:
            continue
        if isinstance(event.body, SubscriptionObserved):
            what = event.body.broker
            seen: object = (event.body.clients, event.body.addresses or ())
        else:
            what = event.body.consumer
            seen = sorted((queue.topic, queue.broker, queue.queue_id) for queue in event.body.queues)
        if what in last and last[what][0] != seen:
            ago_ms = event.body.look_began_before_ms
            since_ns = last[what][1].mono_ns if ago_ms is None else event.mono_ns - round(ago_ms * 1e6)
            yield Move(since_ns, event)
        last[what] = seen, event
