"""Ownership has settled: each member owns what its strategy gives it, and all brokers agree on the members."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from rocketchaos.harness.conditions import Seen
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.language.cluster_needs import PROXY
from rocketchaos.harness.probes.ownership_probe import OwnView, read_ownership
from rocketchaos.harness.probes.subscription_probe import read_subscription
from rocketchaos.harness.rocketmq.allocation import Queue

if TYPE_CHECKING:
    from rocketchaos.harness.language.consumer_spec import Consumer
    from rocketchaos.harness.probes.context import ProbeContext

_TWICE = ", each of which counts as a member until the broker drops those without heartbeats, after 120 s"
"""Two threads of a client that both miss a connection may each make one, and each send a heartbeat on its own
(`NettyRemotingClient.createChannel`, 4.9.4); brokers count members by connection (`ConsumerGroupInfo`)."""


def ownership_settled(context: ProbeContext, group: str) -> Seen:
    """Whether each online member owns, of each topic it subscribes to, its share among all online members.

    Its share is what its own strategy gives it. Members count with every topic, as
    `RebalanceImpl.rebalanceByTopic` (4.9.4) has it: where topics differ, the share of a member that doesn't
    subscribe stays without an owner, and where strategies differ, queues may have several or none. That is
    settled too.

    The share of a member that is served from every queue are all of them. Of members whose client doesn't tell its
    queues it is enough that each broker knows exactly those who are online.
    """
    seen, _ = observe_members(context, group)
    return seen


def observe_members(context: ProbeContext, group: str) -> tuple[Seen, dict[str, OwnView]]:
    """The condition, and what each running member said of itself that can be asked."""
    members = context.members.online(group)
    ids = {name: context.consumers[name].client_id for name in members}
    hand_made = context.hand_made.ids(group)
    keepers = context.servers.keepers_of_group(group)
    if not keepers:
        return Seen(False, f"no broker can be asked: {context.servers.down}"), {}
    try:
        for keeper in keepers:
            connected = read_subscription(context, group, keeper).clients
            online = [
                ids[name]
                for name in context.servers.members_at(group, keeper)
                if ids[name] in connected or _must_know(context, name, keeper)
            ]
            online += hand_made if keeper != PROXY else ()
            if sorted(connected) != sorted(online):
                twice = sorted({client for client in connected if connected.count(client) > 1})
                why = f"; {', '.join(twice)} has several connections{_TWICE}" if twice else ""
                return Seen(False, f"{keeper} knows {list(connected)}, online are {sorted(online)}{why}"), {}
    except RequestFailed as failure:
        return Seen(False, f"a broker can't be asked: {failure}"), {}
    views: dict[str, OwnView] = {}
    for name in members:
        traits = context.consumers[name].traits
        if context.consumers[name].paused or not traits.tells_queues:
            continue  # it can't answer, but keeps its place in everybody's calculation
        try:
            views[name] = read_ownership(context, name)
        except RequestFailed as failure:
            return Seen(False, f"{name} did not report its queues: {failure}"), views
    for name, view in views.items():
        consumer = context.consumers[name]
        for topic in consumer.subscriptions:
            own = view.queues.get(topic, ())
            locked = _locked_by_others(context, views, name, topic)
            counted = [ids[other] for other in context.scenario.counted_by(name, members)]
            shares = []
            for known in context.scenario.routes_of(name):
                share = tuple(
                    sorted(item for item in context.servers.routed_queues(topic) if item[0] in known)
                )
                if consumer.traits.queues == "owned":
                    everybody = [*counted, *hand_made]
                    share = consumer.spec.share(share, everybody, ids[name], context.names.real(topic))
                shares.append(share)
            # Which of its name servers a client asks is its own choice.
            if all(own != _but(share, locked, own) for share in shares):
                text = " or ".join(map(_text, shares))
                return Seen(False, f"{name} has {_text(own)} of {topic}, its share is {text}"), views
    silent = [name for name in members if not context.consumers[name].traits.tells_queues]
    untold = f"; the brokers know {', '.join(silent)}, whose client doesn't tell its queues" if silent else ""
    return Seen(True, f"{len(views)} members have their shares{untold}"), views


def _must_know(context: ProbeContext, name: str, keeper: str) -> bool:
    """Whether a member must be known there, whichever of its name servers it asks."""
    return keeper == PROXY or all(keeper in route for route in context.scenario.routes_of(name))


def _but(share: Sequence[Queue], locked: Collection[Queue], own: Sequence[Queue]) -> tuple[Queue, ...]:
    return tuple(queue for queue in share if queue in own or queue not in locked)


def _locked_by_others(
    context: ProbeContext, views: Mapping[str, OwnView], name: str, topic: str
) -> set[tuple[str, int]]:
    """Queues that an orderly member can't get, because other orderly ones own them."""
    lock = [view for view in views if _locks(context.consumers[view].spec)]
    others = [view for view in lock if view != name] if name in lock else []
    return {queue for other in others for queue in views[other].queues.get(topic, ())}


def _locks(consumer: Consumer) -> bool:
    """Whether it asks the broker for the lock of each queue."""
    return consumer.listener == "orderly" and consumer.model == "clustering"


def _text(queues: tuple[tuple[str, int], ...]) -> str:
    return "[" + ", ".join(f"{broker}:{queue_id}" for broker, queue_id in queues) + "]"
