"""What brokers said of groups' offsets: `OffsetFact`."""

from __future__ import annotations

from collections.abc import Iterator

from rocketchaos.harness.core.events.observed import OffsetsObserved
from rocketchaos.harness.facts.kinds import OffsetFact
from rocketchaos.harness.facts.story import Story


def offset_facts(story: Story) -> Iterator[OffsetFact]:
    """All of a history."""
    for one in story.entries:
        if isinstance(one.body, OffsetsObserved):
            for queue in one.body.queues:
                yield OffsetFact(
                    n=one.n,
                    at_ms=one.at_ms,
                    moment=one.body.moment,
                    consumer_group=one.body.group,
                    topic=one.body.topic,
                    queue=queue.name,
                    max_offset=queue.max_offset,
                    consumer_offset=queue.consumer_offset,
                )
