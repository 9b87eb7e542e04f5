"""How far the brokers' queues and a group's stored offsets are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocketchaos.harness.core.events.observed import OffsetsObserved
from rocketchaos.harness.probes.observations import one_at_a_time

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext


@dataclass(frozen=True, slots=True)
class QueueOffsets:
    """One queue: where it ends, and what the group has stored."""

    broker: str
    queue_id: int
    max_offset: int
    consumer_offset: int | None
    """None: the broker has no offset of the group for this queue."""

    @property
    def lag(self) -> int:
        """Messages behind; with nothing stored, all of them."""
        return self.max_offset - (self.consumer_offset or 0)


@one_at_a_time
def read_offsets(
    context: ProbeContext, group: str, topic: str, moment: str | None = None
) -> tuple[QueueOffsets, ...]:
    """Ask every broker of the topic, and write down the answers."""
    began_ns = context.now_ns()
    answer = context.admin.offsets(context.names.real(group), context.names.real(topic))
    queues = tuple(
        QueueOffsets(offset["broker"], offset["queue_id"], offset["max_offset"], offset["consumer_offset"])
        for offset in sorted(answer["queues"], key=lambda item: (item["broker"], item["queue_id"]))
    )
    context.observations.write(
        f"offsets {group} {topic}",
        OffsetsObserved.kind,
        {
            "group": group,
            "topic": topic,
            "queues": [
                {
                    "broker": queue.broker,
                    "queue_id": queue.queue_id,
                    "max_offset": queue.max_offset,
                    "consumer_offset": queue.consumer_offset,
                }
                for queue in queues
            ],
        },
        moment,
        began_ns,
    )
    return queues
