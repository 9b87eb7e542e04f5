"""Changes of the queues that members had: `OwnershipFact`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rocketchaos.harness.core.events.observed import OwnershipObserved
from rocketchaos.harness.facts.kinds import OwnershipFact
from rocketchaos.harness.facts.story import Story


def ownership_facts(story: Story) -> Iterator[OwnershipFact]:
    """All of a history, of the scenario's topics; a member without any queue of a topic has an empty list."""
    looks = [(entry, entry.body) for entry in story.entries if isinstance(entry.body, OwnershipObserved)]
    topics: dict[tuple[str, str], set[str]] = defaultdict(set)
    for _, body in looks:
        named = [*body.subscriptions, *(queue.topic for queue in body.queues)]
        topics[body.group, body.consumer].update(topic for topic in named if not topic.startswith("%"))
    before: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for entry, body in looks:
        for topic in sorted(topics[body.group, body.consumer]):
            stream, queues = (body.group, body.consumer, topic), tuple(sorted(body.owned(topic)))
            was = before.get(stream)
            before[stream] = queues
            if queues != was:
                yield OwnershipFact(
                    n=entry.n,
                    at_ms=entry.at_ms,
                    consumer_group=body.group,
                    consumer=body.consumer,
                    topic=topic,
                    queues=queues,
                    previous_queues=was,
                )
