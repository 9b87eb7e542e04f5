"""What may make messages come again, and offsets run back: everything that moves queues between members. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from assertions.completeness import patience_ms
from assertions.fault_view import DISTURBANCES
from assertions.view import RunView
from harness.model import Event


def moving(view: RunView, group: str, first: Event, last: Event) -> Event | None:
    """The first thing between two events, or shortly before, after which queues of the group change hands.

    What the harness did to a member, a node, the network or an offset; and where it did nothing, a change of who
    is connected, or of somebody's queues, that was seen. Shortly before: a rebalance that is under way when a
    message comes may take it to the next owner.
    """
    earliest_ns = first.mono_ns - patience_ms(view, [group], last.n) * 1_000_000
    for event in movers(view, group):
        if earliest_ns <= event.mono_ns <= last.mono_ns:
            return event
    return None


def movers(view: RunView, group: str) -> Iterator[Event]:
    """Everything after which queues of the group may change hands, not in order."""
    members, nodes = set(view.scenario.members(group)), set(view.scenario.cluster.nodes)
    for event in view.events:
        if event.kind in ("fault-effective", "fault-healed", "fault-injected"):
            if {event.data["target"], *event.data.get("sides", ())} & (members | nodes):
                yield event
        elif event.kind == "node-ready" or (
            event.kind in DISTURBANCES and (event.node in members or event.data.get("group") == group)
        ):
            yield event
    yield from _seen_changes(view, group)


def _seen_changes(view: RunView, group: str) -> Iterator[Event]:
    """Looks that show other members, connections or queues than the look before at the same."""
    last: dict[tuple[str, str], object] = {}
    for event in view.events:
        if event.kind == "subscription-observed" and event.data["group"] == group:
            key = "clients", str(event.data["broker"])
            seen: object = (tuple(event.data["clients"]), tuple(event.data.get("addresses", ())))
        elif event.kind == "ownership-observed" and event.data["group"] == group:
            key = "queues", str(event.data["consumer"])
            seen = sorted((one["topic"], one["broker"], one["queue_id"]) for one in event.data["queues"])
        else:
            continue
        if key in last and last[key] != seen:
            yield event
        last[key] = seen
