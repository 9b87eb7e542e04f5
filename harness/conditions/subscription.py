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
        differing = _differing_topics(self._context, self._group)
        if differing:
            self._last = None
            return Seen(False, f"{differing}: each heartbeat removes the others' topics, so it never settles")
        members, views = look_at_members(self._context, self._group)
        if not members.holds:
            self._last = None
            return members
        changing = [name for name, view in views.items() if self._topic in view.changing]
        if changing:
            self._last = None
            return Seen(
                False, f"the queues of {' and '.join(changing)} have changed, its subVersion will yet"
            )
        newest = max((view.versions.get(self._topic, -1) for view in views.values()), default=-1)
        stored = tuple(
            read_subscription(self._context, self._group, broker).version_of(self._topic) or -1
            for broker in self._context.brokers_of_group(self._group)
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


def _differing_topics(context: RunContext, group: str) -> str:
    """Who of the online members subscribes to which topics, where they differ; empty where they don't."""
    topics = {name: sorted(context.consumers[name].subscriptions) for name in context.online_members(group)}
    if all(own == next(iter(topics.values())) for own in topics.values()):
        return ""
    return ", ".join(f"{name} subscribes to {' and '.join(own)}" for name, own in topics.items())
