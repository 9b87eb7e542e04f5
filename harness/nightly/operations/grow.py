"""A topic gets more queues while it is in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.nightly.operations.base import MemberOperation

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Step

MORE = 2


class Grow(MemberOperation):
    """`mqadmin updateTopic` with more queues. Clients learn of them when they next ask for the route."""

    name = "grow"
    meaning = "a topic gets two more queues on each broker"
    weight = 1.0

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(draft.running(group))

    def play(self, draft: Draft, group: str) -> list[Step]:
        del group
        topic = draft.rng.choice(sorted(draft.topics))
        draft.grown[topic] = draft.grown.get(topic, draft.topics[topic]) + MORE
        settings = {"readQueueNums": draft.grown[topic], "writeQueueNums": draft.grown[topic]}
        draft.story.append(f"{topic} gets {MORE} more queues")
        return [{"topic-config": {"topic": topic, "set": settings}}]
