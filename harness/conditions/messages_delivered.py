"""At least this many messages have reached listeners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.assertions.view import RunView
from rocketchaos.harness.conditions import Seen

if TYPE_CHECKING:
    from rocketchaos.harness.conditions.context import ConditionContext


def messages_delivered(context: ConditionContext, target: str, topic: str | None, count: int) -> Seen:
    """Whether at least this many different messages have reached the listeners of the target."""
    view = RunView(context.scenario, context.history.events)
    keys = view.delivered(len(view.events), view.consumers(target) or (), topic)
    return Seen(len(keys) >= count, f"{len(keys)} delivered")
