"""A consumer counts everything in its queues as consumed, by its own offset store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.conditions import Seen
from rocketchaos.harness.conditions.offsets_reached import shown_queues
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.probes.ownership_probe import read_ownership

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext


def own_offsets_reached(context: ProbeContext, target: str, topic: str) -> Seen:
    """Whether each consumer's own offset of each queue of the topic that it has is the queue's end.

    Its own offset store takes a message into account once the listener has returned
    (`ConsumeMessageConcurrentlyService.processConsumeResult`, 4.9.4), which is later than the delivery; and
    `shutdown()` persists what is there, and awaits no listener. What has been persisted before doesn't matter: the
    client reads its memory first.
    """
    for name in context.variables.resolve([target]):
        seen = _of_one(context, name, topic)
        if not seen.holds:
            return seen
    return Seen(True, f"{target} counts all of its queues as consumed")


def _of_one(context: ProbeContext, name: str, topic: str) -> Seen:
    queues = shown_queues(context, context.scenario.consumers[name].group, topic)
    if isinstance(queues, str):
        return Seen(False, queues)
    try:
        view = read_ownership(context, name)
    except RequestFailed as failure:
        return Seen(False, f"{name} did not report its queues: {failure}")
    own = view.offsets.get(topic, {})
    if not own:
        return Seen(False, f"{name} tells no offset of {topic}")
    ends = {(queue.broker, queue.queue_id): queue.max_offset for queue in queues}
    untold = [f"{broker}:{queue_id}" for broker, queue_id in sorted(own) if (broker, queue_id) not in ends]
    if untold:
        # As of a broker that is down: the name server has forgotten it, and the member has its queues still.
        return Seen(False, f"no broker tells the end of {', '.join(untold)}, which {name} has")
    behind = [
        f"{broker}:{queue_id} {own[broker, queue_id]} of {ends[broker, queue_id]}"
        for broker, queue_id in sorted(own)
        # Of a queue of which it has got nothing yet it knows no offset: -1.
        if max(0, own[broker, queue_id]) < ends[broker, queue_id]
    ]
    return Seen(not behind, f"{name} has come to {', '.join(behind) or 'the end of each queue'}")
