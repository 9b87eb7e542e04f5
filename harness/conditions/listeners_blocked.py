"""Listeners hold on to at least this many messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.assertions.view import RunView
from rocketchaos.harness.conditions import Seen

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext


def listeners_blocked(context: ProbeContext, target: str, count: int) -> Seen:
    """Whether the target's listeners block on at least this many messages (`behaviour: block`)."""
    view = RunView(context.scenario, context.history.events)
    held = {name: set(view.blocked(name, len(view.events))) for name in view.consumers(target) or ()}
    texts = [f"{name}: {', '.join(sorted(keys)) or 'nothing'}" for name, keys in held.items()]
    return Seen(len(set().union(*held.values())) >= count, f"blocked on {'; '.join(texts)}")
