"""The queues that a consumer says it owns: GET_CONSUMER_RUNNING_INFO (307), relayed by a broker.

Some leave their queues out of that, as a lite pull consumer of 4.9.x does (DefaultLitePullConsumerImpl.
consumerRunningInfo; later ones have them), so their own process is asked for them (`Api.asks_process`).

Never two at a time for one consumer: see `harness.probes.watch`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.core.events.observed import OwnershipObserved
from rocketchaos.harness.language.cluster_needs import PROXY
from rocketchaos.harness.probes.observations import one_at_a_time
from rocketchaos.harness.rocketmq.allocation import Queue
from rocketchaos.harness.rocketmq.client_kinds import USUAL_CLIENT

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext

RELAY_LIMIT_MS = 3_000
"""How long a broker waits for the client's answer; a healthy one takes a few milliseconds."""


@dataclass(frozen=True, slots=True)
class OwnView:
    """What one member knows: its queues, and its own subscription."""

    queues: Mapping[str, tuple[Queue, ...]]
    """By topic."""
    versions: Mapping[str, int]
    """The member's own subVersion by topic."""
    changing: tuple[str, ...] = ()
    """The topics of which its queues have changed, and its subVersion hasn't yet: it will."""
    offsets: Mapping[str, Mapping[Queue, int]] = field(default_factory=dict)
    """How far it has come, by topic and queue, of its own offset store; empty if its client doesn't tell
    (`Api.tells_offsets`)."""


_ALL_OF_BROKER = -1
"""The queue id with which a consumer in POP mode asks a broker for messages of any queue."""


def _meant(context: ProbeContext, topic: str, queue: Queue) -> tuple[Queue, ...]:
    broker, queue_id = queue
    if queue_id != _ALL_OF_BROKER or topic not in context.scenario.topics:
        return (queue,)
    return tuple(item for item in context.servers.queues(topic) if item[0] == broker)


def _shares_its_id(context: ProbeContext, consumer: str, group: str) -> bool:
    ids = [context.consumers[item].client_id for item in context.members.online(group)]
    return ids.count(context.consumers[consumer].client_id) > 1


def _relayed(context: ProbeContext, consumer: str) -> Mapping[str, Any]:
    group = context.scenario.consumers[consumer].group
    if _shares_its_id(context, consumer, group):
        # A broker would ask whichever client of this id it finds first (ConsumerGroupInfo.findChannel, 4.9.4).
        if context.consumers[consumer].spec.choice.kind.users_program:
            raise RequestFailed(
                f"it has the same client id as another member, {context.consumers[consumer].client_id}, so that a "
                "broker would ask either: give each program an instance name of its own, as by "
                "`properties: {rocketmq.client.name: a}`",
                None,
            )
        return context.consumers[consumer].running_info()
    spec = context.consumers[consumer].spec
    if spec.name_servers is not None and spec.choice.kind.name == USUAL_CLIENT:
        # Which brokers know it, if any, depends on what its name servers say.
        return context.consumers[consumer].running_info()
    client_id = context.consumers[consumer].client_id
    failure = RequestFailed(f"no broker can be asked about {consumer}: {context.servers.down}", None)
    for address in context.servers.brokers_of_group(group).values():
        try:
            return context.admin.running_info(context.names.real(group), client_id, address, RELAY_LIMIT_MS)
        except RequestFailed as refusal:
            # A broker that was paused may have nothing but a closed connection of it for two minutes.
            failure = refusal
    raise failure


@one_at_a_time
def read_ownership(context: ProbeContext, consumer: str, moment: str | None = None) -> OwnView:
    """Ask one member, of those that tell their queues, through a broker that reaches it; write down the answer.

    One that speaks to a proxy of its own is asked in its process, and tells no subVersions: the proxy relays no
    such question (`RemotingProtocolServer`, 5.3.3).

    Raises:
        RequestFailed: the member is not connected, or did not answer the broker.
    """
    began_ns = context.now_ns()
    group = context.scenario.consumers[consumer].group
    client_id = context.consumers[consumer].client_id
    behind_proxy = consumer in context.servers.members_at(group, PROXY)
    traits = context.consumers[consumer].traits
    relayed = {} if behind_proxy or traits.process_tells_all else _relayed(context, consumer)
    asks_process = behind_proxy or traits.asks_process
    by_process = context.consumers[consumer].assignment() if asks_process else {}
    answer = {"subscriptions": {}, **relayed, **by_process}
    queues: dict[str, list[Queue]] = {}
    offsets: dict[str, dict[Queue, int]] = {}
    for item in answer["queues"]:
        topic = context.names.scenario(item["topic"])
        queue = (item["broker"], item["queue_id"])
        queues.setdefault(topic, []).extend(_meant(context, topic, queue))
        if "commit_offset" in item:
            offsets.setdefault(topic, {})[queue] = item["commit_offset"]
    subscriptions = {
        context.names.scenario(topic): stored for topic, stored in answer["subscriptions"].items()
    }
    context.observations.write(
        f"ownership {consumer}",
        OwnershipObserved.kind,
        {
            "group": group,
            "consumer": consumer,
            "client_id": client_id,
            "queues": [
                {"topic": topic, "broker": broker, "queue_id": queue_id}
                for topic in sorted(queues)
                for broker, queue_id in sorted(queues[topic])
            ],
            "subscriptions": subscriptions,
        },
        moment,
        began_ns,
    )
    versions = {topic: int(stored["sub_version"]) for topic, stored in subscriptions.items()}
    owned = {topic: tuple(sorted(own)) for topic, own in queues.items()}
    changes = context.consumers[consumer].changes
    return OwnView(
        queues=owned,
        versions=versions,
        changing=tuple(
            topic
            for topic, version in versions.items()
            if changes.under_way(context.names.real(topic), version, owned.get(topic, ()))
        ),
        offsets=offsets,
    )
