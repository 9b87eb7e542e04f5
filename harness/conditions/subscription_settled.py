"""The stored subscription has settled: it is the newest one there is, on every broker, and stays it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rocketchaos.harness.conditions import Seen
from rocketchaos.harness.conditions.ownership_settled import observe_members
from rocketchaos.harness.language.expressions import text_of
from rocketchaos.harness.probes.ownership_probe import OwnView
from rocketchaos.harness.probes.subscription_probe import read_subscription

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext


STEADY_MS = 2_000
"""Where members don't tell their subVersions, what is stored must stay so long. The gRPC client sends its
settings, which overwrite it, at its start and once more 1 s later, then every 300 s."""
PASSED_WITHIN_MS = 10_000
"""The subscription of a member that is gone must stay this long where present members could replace it: a member
raises its subVersion just after a change of its queues, on a busy machine more than a second after it."""


class SubscriptionSettled:
    """Whether nothing can change the group's stored subscription for a topic any more.

    The highest subVersion that a heartbeat brings stays stored (`ConsumerGroupInfo.updateSubscription`, 4.9.4),
    and a change of a member's queues raises its subVersion, of those clients that do so
    (`RebalancePushImpl.messageQueueChanged`). So: ownership has settled; on every broker the stored subVersion
    equals the highest of the members' own; and a second look finds the same. Quiet alone proves nothing: a
    skipped heartbeat comes up to 30 s later.

    Some members tell no subVersion: these only become quiet. Where there are any, the stored one may be newer
    than all that members report, if the expression is that of a member that reports none; and what is stored
    must stay for `STEADY_MS`. And who has gone may have left a newer one than all who are there have: where
    their queues don't change any more, it stays (`PASSED_WITHIN_MS`).
    """

    def __init__(self, context: ProbeContext, group: str, topic: str) -> None:
        self._context, self._group, self._topic = context, group, topic
        self._last: tuple[tuple[int, ...], int] | None = None
        self._since_ns = 0

    def __call__(self) -> Seen:
        differing = _differing_topics(self._context, self._group)
        if differing:
            return self._not_yet(
                f"{differing}: each heartbeat removes the others' topics, so it never settles"
            )
        if self._awaits_program():
            return self._not_yet(f"no member has subscribed to {self._topic} yet")
        members, views = observe_members(self._context, self._group)
        if not members.holds:
            return self._not_yet(members.text)
        changing = [name for name, view in views.items() if self._topic in view.changing]
        if changing:
            return self._not_yet(
                f"the queues of {' and '.join(changing)} have changed, its subVersion will yet"
            )
        versions = {
            name: view.versions[self._topic] for name, view in views.items() if self._topic in view.versions
        }
        newest = max(versions.values(), default=-1)
        silent = self._own_of_silent(views)
        stay_ms = STEADY_MS if silent else 0
        stored = []
        for broker in self._context.servers.keepers_of_group(self._group):
            held = read_subscription(self._context, self._group, broker)
            version = held.version_of(self._topic)
            stored.append(-1 if version is None else version)
            there = self._context.servers.members_at(self._group, broker)
            newest = max((versions[name] for name in there if name in versions), default=-1)
            if stored[-1] < newest:
                return self._not_yet(
                    f"{broker} holds subVersion {stored[-1]}, the newest of the members' own is {newest}"
                )
            if (
                stored[-1] > newest
                and self._may_rise(views)
                and held.expression_of(self._topic) not in silent
            ):
                if self._unasked(views):
                    own = f"the newest of the members' own is {newest}"
                    whose = held.expression_of(self._topic)
                    of_nobody = f"; {whose!r} is of no member that tells none" if silent else ""
                    return self._not_yet(f"{broker} holds subVersion {stored[-1]}, {own}{of_nobody}")
                stay_ms = PASSED_WITHIN_MS
        if silent and -1 in stored:
            return self._not_yet(f"not every broker has stored a subscription: {stored}")
        return self._confirmed(tuple(stored), newest, stay_ms)

    def _awaits_program(self) -> bool:
        """Whether only a user's program, which subscribes by itself, can yet subscribe to the topic."""
        consumers = self._context.consumers
        online = self._context.members.online(self._group)
        return any(consumers[name].spec.choice.kind.users_program for name in online) and not any(
            self._topic in consumers[name].topics for name in online
        )

    def _may_rise(self, views: Mapping[str, OwnView]) -> bool:
        """Whether a member may yet pass what is stored, which somebody left who has gone."""
        consumers = self._context.consumers
        return not views or any(consumers[name].traits.raises_version for name in views)

    def _unasked(self, views: Mapping[str, OwnView]) -> bool:
        """Whether an online member has not reported its subVersion: the stored one may be its version."""
        members = self._context.members.online(self._group)
        return any(name not in views or self._topic not in views[name].versions for name in members)

    def _own_of_silent(self, views: Mapping[str, OwnView]) -> set[str]:
        """The expressions of the online members that tell no subVersion for the topic."""
        silent = set()
        for name in self._context.members.online(self._group):
            consumer = self._context.consumers[name]
            only_paused = consumer.paused and consumer.traits.tells_queues
            if only_paused or self._topic not in consumer.subscriptions:
                continue
            if name not in views or self._topic not in views[name].versions:
                silent.add(text_of(consumer.subscriptions[self._topic]))
        return silent

    def _not_yet(self, why: str) -> Seen:
        self._last = None
        return Seen(False, why)

    def _confirmed(self, stored: tuple[int, ...], newest: int, stay_ms: int) -> Seen:
        """Whether the same was stored, and reported by the members, at the last look, and for long enough."""
        what = f"subVersion {' and '.join(str(number) for number in sorted(set(stored)))} stored"
        now_ns = self._context.now_ns()
        if self._last != (stored, newest):
            self._last, self._since_ns = (stored, newest), now_ns
            return Seen(False, f"{what}; to be confirmed by a second look")
        if (now_ns - self._since_ns) / 1e6 < stay_ms:
            gone = f"the newest of the members' own is {newest}"
            why = gone if stay_ms == PASSED_WITHIN_MS else "not all members tell theirs"
            return Seen(False, f"{what}; {why}: it must stay for {stay_ms / 1000:g} s")
        return Seen(True, f"{what} on {len(stored)} brokers, twice")


def _differing_topics(context: ProbeContext, group: str) -> str:
    """Who of the online members subscribes to which topics, where they differ; empty if they don't."""
    topics = {name: sorted(context.consumers[name].subscriptions) for name in context.members.online(group)}
    if all(own == next(iter(topics.values())) for own in topics.values()):
        return ""
    return ", ".join(f"{name} subscribes to {' and '.join(own)}" for name, own in topics.items())
