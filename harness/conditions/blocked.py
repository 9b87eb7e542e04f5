"""Listeners hold on to so many messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assertions.view import RunView
from harness.conditions import Seen

if TYPE_CHECKING:
    from harness.context import RunContext


def listeners_blocked(context: RunContext, target: str, count: int) -> Seen:
    """Whether the listeners of the target hold on to so many messages, or more, by their `behaviour: block`.

    A message counts from when the listener blocks on it until it returns, or its process ends.
    """
    view = RunView(context.scenario, context.history.events)
    consumers = view.consumers(target) or ()
    held = {name: set[str]() for name in consumers}
    for event in view.events:
        if event.kind == "fault-effective" and event.data["fault"] == "kill":
            held.get(str(event.data["target"]), set()).clear()
        if event.node not in held:
            continue
        if event.kind == "blocked":
            held[event.node].add(str(event.data["key"]))
        elif event.kind == "consumed":
            held[event.node].discard(str(event.data["key"]))
        elif event.kind in ("consumer-starting", "consumer-stopped"):
            held[event.node].clear()
    told = [f"{name}: {', '.join(sorted(keys)) or 'nothing'}" for name, keys in held.items()]
    return Seen(len(set().union(*held.values())) >= count, f"blocked on {'; '.join(told)}")
