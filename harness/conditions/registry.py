"""The functions that look whether a condition of `settle` holds, by key. Only a run loads this; reading a scenario
does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from rocketchaos.harness.conditions import Seen
from rocketchaos.harness.conditions.dead_letters_there import dead_letters_there
from rocketchaos.harness.conditions.fates_sealed import FatesSealed
from rocketchaos.harness.conditions.handled_but_not_stored import handled_but_not_stored
from rocketchaos.harness.conditions.lines_logged import lines_logged
from rocketchaos.harness.conditions.listeners_blocked import listeners_blocked
from rocketchaos.harness.conditions.master_elected import master_elected
from rocketchaos.harness.conditions.messages_delivered import messages_delivered
from rocketchaos.harness.conditions.offsets_reached import offsets_reached
from rocketchaos.harness.conditions.own_offsets_reached import own_offsets_reached
from rocketchaos.harness.conditions.ownership_settled import ownership_settled
from rocketchaos.harness.conditions.retries_came import retries_came
from rocketchaos.harness.conditions.route_settled import route_settled
from rocketchaos.harness.conditions.slave_copied import offsets_copied, slave_copied
from rocketchaos.harness.conditions.subscription_settled import SubscriptionSettled

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext
    from rocketchaos.harness.steps.settle import Settle

OBSERVERS: Mapping[str, Callable[[ProbeContext, Settle], Callable[[], Seen]]] = {
    "ownership": lambda context, step: lambda: ownership_settled(context, str(step.ownership)),
    "subscription": lambda context, step: SubscriptionSettled(
        context, str(step.subscription), str(step.topic)
    ),
    "offsets": lambda context, step: (
        lambda: offsets_reached(context, str(step.offsets), str(step.topic), step.lag or 0, step.queues_of)
    ),
    "own_offsets": lambda context, step: (
        lambda: own_offsets_reached(context, str(step.own_offsets), str(step.topic))
    ),
    "route": lambda context, step: lambda: route_settled(context, str(step.route)),
    "master": lambda context, step: lambda: master_elected(context, str(step.master)),
    "copied": lambda context, step: lambda: slave_copied(context, str(step.copied)),
    "copied_offsets": lambda context, step: lambda: offsets_copied(context, str(step.copied_offsets)),
    "delivered": lambda context, step: (
        lambda: messages_delivered(context, str(step.delivered), step.topic, step.tag, step.count or 1)
    ),
    "blocked": lambda context, step: lambda: listeners_blocked(context, str(step.blocked), step.count or 1),
    "retried": lambda context, step: lambda: retries_came(context, str(step.retried), step.count or 1),
    "sealed": lambda context, step: FatesSealed(context, str(step.sealed)),
    "unstored": lambda context, step: (
        lambda: handled_but_not_stored(context, str(step.unstored), str(step.topic), step.count or 1)
    ),
    "dead_letters": lambda context, step: (
        lambda: dead_letters_there(context, str(step.dead_letters), step.count or 1)
    ),
    "log": lambda context, step: (
        lambda: lines_logged(context, str(step.log), str(step.matches), step.count or 1)
    ),
}
"""The same keys as `harness.steps.settle.CONDITIONS`; a test compares them."""
