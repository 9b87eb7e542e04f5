"""A group's offsets have come near enough to the end of its queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.assertions.lag import lag_over
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.conditions import Seen
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.core.events.observed import QueueProgress
from rocketchaos.harness.probes.offsets_probe import read_offsets

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext


def shown_queues(context: ProbeContext, group: str, topic: str) -> tuple[QueueProgress, ...] | str:
    """The brokers' queues of a topic with every message that was acknowledged; or why they can't be determined
    yet.

    The consume queue is filled asynchronously, and nobody can be behind what isn't shown yet.
    """
    reason = context.servers.why_not_asked(topic)
    if reason is not None:
        return reason
    try:
        queues = read_offsets(context, group, topic)
    except RequestFailed as failure:
        # As long as a name server is down or just back, nobody knows where the topic is.
        return f"the offsets can't be read: {failure}"
    ends = {(queue.broker, queue.queue_id): queue.max_offset for queue in queues}
    for message in context.producer.acknowledged:
        if message.topic == topic and ends.get((message.broker, message.queue_id), 0) <= message.queue_offset:
            return f"the queue {message.broker}:{message.queue_id} doesn't show {message.key} yet"
    return queues


def offsets_reached(
    context: ProbeContext, group: str, topic: str, lag: int, queues_of: str | None = None
) -> Seen:
    """Whether the group is at most `lag` messages behind, in total, or in the queues of one consumer."""
    queues = shown_queues(context, group, topic)
    if isinstance(queues, str):
        return Seen(False, queues)
    if queues_of is not None:
        view = RunView(context.scenario, context.history.events)
        owned = view.queues_owned(queues_of, topic, len(view.events))
        if owned is None:
            why = f"it was never seen which queues {queues_of} owns"
            return Seen(False, view.why_not_owned(view.consumers(queues_of) or (), why))
        if not owned:
            return Seen(False, f"{queues_of} owns no queue of {topic}")
        queues = tuple(queue for queue in queues if queue.name in owned)
    seen = lag_over(queues)
    if seen.beyond:
        # As after `reset-offset` beyond the end: the consumer is yet to find out.
        return Seen(False, f"beyond the end: {seen.text}")
    return Seen(seen.messages <= lag, f"lag {seen.messages}: {seen.text}")
