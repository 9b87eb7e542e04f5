"""How far the brokers' queues and a group's stored offsets are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from rocketchaos.harness.core.events.observed import OffsetsObserved, QueueProgress
from rocketchaos.harness.probes.observations import one_at_a_time

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext


@one_at_a_time
def read_offsets(
    context: ProbeContext, group: str, topic: str, moment: str | None = None
) -> tuple[QueueProgress, ...]:
    """Ask every broker of the topic, and write down the answers."""
    began_ns = context.now_ns()
    answer = context.admin.offsets(context.names.real(group), context.names.real(topic))
    queues = tuple(
        QueueProgress(
            broker=offset["broker"],
            queue_id=offset["queue_id"],
            max_offset=offset["max_offset"],
            consumer_offset=offset["consumer_offset"],
        )
        for offset in sorted(answer["queues"], key=lambda item: (item["broker"], item["queue_id"]))
    )
    context.observations.write(
        f"offsets {group} {topic}",
        OffsetsObserved.kind,
        {"group": group, "topic": topic, "queues": msgspec.to_builtins(queues)},
        moment,
        began_ns,
    )
    return queues
