"""What brokers said of groups' offsets: `OffsetFact`."""

from __future__ import annotations

from collections.abc import Iterator

from rocketchaos.harness.core.events.observed import OffsetsObserved
from rocketchaos.harness.facts.kinds import OffsetFact
from rocketchaos.harness.facts.story import Story


def offset_facts(story: Story) -> Iterator[OffsetFact]:
    """All of a history."""
    for entry in story.entries:
        if isinstance(entry.body, OffsetsObserved):
            for queue in entry.body.queues:
                yield OffsetFact(
                    n=entry.n,
                    at_ms=entry.at_ms,
                    moment=entry.body.moment,
                    consumer_group=entry.body.group,
                    topic=entry.body.topic,
                    queue=queue.name,
                    max_offset=queue.max_offset,
                    consumer_offset=queue.consumer_offset,
                )
