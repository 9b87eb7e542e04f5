"""A running member subscribes to a topic that it had not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.nightly.operations.base import MemberOperation

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Member, Step


def without(draft: Draft, group: str) -> list[tuple[Member, str]]:
    """Who lacks which topic; SQL is decided for a whole group."""
    return [
        (member, topic)
        for member in draft.running(group)
        if member.can_resubscribe and not draft.sql
        for topic in draft.topics
        if topic not in member.wants
    ]


class SubscribeMore(MemberOperation):
    """`subscribe()` after `start()`, for a further topic."""

    name = "subscribe-more"
    meaning = "a running member subscribes to a topic that it hasn't"
    weight = 1.0
    agreeing = False

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(without(draft, group))

    def play(self, draft: Draft, group: str) -> list[Step]:
        member, topic = draft.rng.choice(without(draft, group))
        expression = draft.word("expression")
        member.wants[topic] = "*" if expression == "none" else expression
        draft.story.append(f"{member.name} subscribes to {topic} as well")
        said = {"consumer": member.name, "topic": topic, "expression": member.wants[topic]}
        return [{"subscribe": said}]
