"""The stored subscription has settled: it is the newest one there is, on every broker, and stays it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.conditions import Seen
from harness.conditions.ownership import look_at_members
from harness.probes.subscription import read_subscription

if TYPE_CHECKING:
    from harness.context import RunContext


class SubscriptionSettled:
    """Whether nothing can change the group's stored subscription for a topic any more.

    A change of a member's queues raises its subVersion (`RebalancePushImpl.messageQueueChanged`, 4.9.4), and
    the highest subVersion that a heartbeat brings stays stored (`ConsumerGroupInfo.updateSubscription`). So:
    ownership has settled; on every broker the stored subVersion equals the highest of the members' own; and a
    second look finds the same. Quiet alone proves nothing: a skipped heartbeat comes up to 30 s later.
    """

    def __init__(self, context: RunContext, group: str, topic: str) -> None:
        self._context, self._group, self._topic = context, group, topic
        self._last: tuple[int, ...] | None = None

    def __call__(self) -> Seen:
        members, views = look_at_members(self._context, self._group)
        if not members.holds:
            self._last = None
            return members
        newest = max((view.versions.get(self._topic, -1) for view in views.values()), default=-1)
        stored = tuple(
            read_subscription(self._context, self._group, broker).version_of(self._topic) or -1
            for broker in self._context.broker_addresses
        )
        if any(version != newest for version in stored):
            self._last = None
            return Seen(
                False, f"stored subVersions {list(stored)}, the newest of the members' own is {newest}"
            )
        if self._last != stored:
            self._last = stored
            return Seen(False, f"subVersion {newest} stored; to be confirmed by a second look")
        return Seen(True, f"subVersion {newest} stored on {len(stored)} brokers, twice")
