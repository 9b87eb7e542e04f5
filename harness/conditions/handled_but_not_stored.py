"""Listeners have handled messages whose offsets the brokers haven't stored yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.assertions.oracle import FAILED, PANICKED, SUSPENDED
from rocketchaos.assertions.view import RunView, queue_name
from rocketchaos.harness.conditions import Seen
from rocketchaos.harness.conditions.offsets_reached import shown_queues
from rocketchaos.harness.core.events.messages import Consumed

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext


def handled_but_not_stored(context: ProbeContext, group: str, topic: str, count: int) -> Seen:
    """Whether this many different messages are between a listener's success and the storing of the offset.

    A client commits what was handled to a table of its own, and sends that to the brokers every 5 s
    (persistConsumerOffsetInterval; `RemoteBrokerOffsetStore`, 4.9.4), and along with pulls.
    """
    queues = shown_queues(context, group, topic)
    if isinstance(queues, str):
        return Seen(False, queues)
    stored = {queue_name(queue.broker, queue.queue_id): queue.consumer_offset or 0 for queue in queues}
    view = RunView(context.scenario, context.history.events)
    members = view.scenario.members(group)
    handled = {
        event.body.key
        for event in view.of_kind(Consumed)
        if event.node in members and event.body.status not in (FAILED, PANICKED, SUSPENDED)
    }
    open_ones = [
        item.key
        for item in view.sent
        if item.topic == topic and item.key in handled and stored.get(item.queue, 0) <= item.offset
    ]
    return Seen(len(open_ones) >= count, f"{len(open_ones)} of {len(handled)} handled are not stored")
