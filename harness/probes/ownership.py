"""What a consumer says it owns: GET_CONSUMER_RUNNING_INFO (307), relayed by a broker.

A lite pull consumer of 4.9.x leaves its queues out of that (DefaultLitePullConsumerImpl.consumerRunningInfo; later
ones have them), so its own process is asked for them.

Never two at a time for one consumer: see `harness.probes.watch`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.allocation import Queue
from harness.workers.handle import WorkerFailed

if TYPE_CHECKING:
    from harness.context import RunContext

RELAY_LIMIT_MS = 3_000
"""How long a broker waits for the client's answer; a healthy one takes a few milliseconds."""


@dataclass(frozen=True, slots=True)
class OwnView:
    """What one member knows: its queues, and its own subscription."""

    queues: Mapping[str, tuple[Queue, ...]]
    """By topic."""
    versions: Mapping[str, int]
    """The member's own subVersion by topic."""


def read_ownership(context: RunContext, consumer: str, moment: str | None = None) -> OwnView:
    """Ask one member, of those that tell their queues, through the first broker, and write down the answer.

    Raises:
        WorkerFailed: the member is not connected, or did not answer the broker.
    """
    group = context.scenario.consumers[consumer].group
    client_id = context.consumers[consumer].client_id
    brokers = context.brokers_of_group(group)
    if not brokers:
        raise WorkerFailed(f"no broker can be asked about {consumer}: {context.down}", None)
    answer = context.admin.running_info(
        context.real_group(group), client_id, next(iter(brokers.values())), RELAY_LIMIT_MS
    )
    queues: dict[str, list[Queue]] = {}
    by_307 = context.consumers[consumer].spec.traits.tells_by_307
    own = answer["queues"] if by_307 else context.consumers[consumer].assignment()
    for one in own:
        queues.setdefault(context.name_of_topic(one["topic"]), []).append((one["broker"], one["queue_id"]))
    subscriptions = {
        context.name_of_topic(topic): stored for topic, stored in answer["subscriptions"].items()
    }
    context.observe(
        f"ownership {consumer}",
        "ownership-observed",
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
    )
    return OwnView(
        queues={topic: tuple(sorted(own)) for topic, own in queues.items()},
        versions={topic: int(stored["sub_version"]) for topic, stored in subscriptions.items()},
    )
