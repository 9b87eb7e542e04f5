"""So many retries have come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.assertions.view import RunView
from rocketchaos.harness.conditions import Seen

if TYPE_CHECKING:
    from rocketchaos.harness.conditions.context import ConditionContext


def retries_came(context: ConditionContext, target: str, count: int) -> Seen:
    """Whether so many deliveries to the target, or more, had a reconsumeTimes of 1 or more."""
    view = RunView(context.scenario, context.history.events)
    retries = [
        delivery
        for delivery in view.deliveries(len(view.events), view.consumers(target) or ())
        if delivery.reconsume_times > 0
    ]
    return Seen(len(retries) >= count, f"{len(retries)} retries")
