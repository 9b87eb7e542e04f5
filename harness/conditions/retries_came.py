"""At least this many retries have come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.assertions.attempts import retries
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.conditions import Seen

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext


def retries_came(context: ProbeContext, target: str, count: int) -> Seen:
    """Whether at least this many deliveries to the target were retries."""
    view = RunView(context.scenario, context.history.events)
    consumers = view.consumers(target) or ()
    groups = dict.fromkeys(view.scenario.consumers[name].group for name in consumers)
    number = sum(len(retries(view, len(view.events), group, consumers)) for group in groups)
    return Seen(number >= count, f"{number} retries")
