"""What brokers and members said: changes of subscriptions and of owned queues, and offsets."""

from collections import defaultdict
from collections.abc import Iterator

from rocketchaos.harness.core.events.observed import OffsetsObserved, OwnershipObserved, SubscriptionObserved
from rocketchaos.harness.facts.kinds import OffsetFact, OwnershipFact, SubscriptionFact
from rocketchaos.harness.facts.story import Story


def subscription_facts(story: Story) -> Iterator[SubscriptionFact]:
    """All of a history, of the scenario's topics; a subscription that a broker has not held yet is no fact."""
    looks = [(entry, entry.body) for entry in story.entries if isinstance(entry.body, SubscriptionObserved)]
    topics: dict[str, set[str]] = defaultdict(set)
    for _, body in looks:
        topics[body.group].update(topic for topic in body.subscriptions if not topic.startswith("%"))
    before: dict[tuple[str, str, str], tuple[str | None, str | None, int | None]] = {}
    for entry, body in looks:
        for topic in sorted(topics[body.group]):
            held = body.subscriptions.get(topic)
            now = (None, None, None) if held is None else (held.expression, held.type, held.sub_version)
            stream = (body.group, body.broker, topic)
            was = before.get(stream, (None, None, None))
            before[stream] = now
            if now != was:
                yield SubscriptionFact(
                    n=entry.n,
                    at_ms=entry.at_ms,
                    consumer_group=body.group,
                    broker=body.broker,
                    topic=topic,
                    expression=now[0],
                    expression_type=now[1],
                    sub_version=now[2],
                    previous_expression=was[0],
                    members=len(body.clients),
                )


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
