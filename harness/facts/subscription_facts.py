"""Changes of what brokers held: `SubscriptionFact`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rocketchaos.harness.core.events.observed import SubscriptionObserved
from rocketchaos.harness.facts.kinds import SubscriptionFact
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
