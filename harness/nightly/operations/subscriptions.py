"""A running member changes its subscription: other tags, one topic more, or one less."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.nightly.operations.base import MemberOperation

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Member, Step


def changeable(draft: Draft, group: str) -> list[tuple[Member, str]]:
    """Who may subscribe again to which topic: by tags, once started; SQL is decided for a whole group."""
    return [
        (member, topic)
        for member in draft.running(group)
        if member.can_resubscribe
        for topic, expression in member.wants.items()
        if isinstance(expression, str)
    ]


class Resubscribe(MemberOperation):
    """`subscribe()` on a consumer that runs."""

    name = "resubscribe"
    meaning = "a running member subscribes again to one of its topics, with any expression"
    agreeing = False

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(changeable(draft, group))

    def play(self, draft: Draft, group: str) -> list[Step]:
        member, topic = draft.rng.choice(changeable(draft, group))
        expression = draft.word("expression")
        if expression == "none":
            expression = "*"
        member.wants[topic] = expression
        draft.story.append(f"{member.name} subscribes again")
        return [{"subscribe": {"consumer": member.name, "topic": topic, "expression": expression}}]


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


def with_two(draft: Draft, group: str) -> list[Member]:
    """The members that keep another topic."""
    return [item for item in draft.running(group) if item.can_resubscribe and len(item.wants) > 1]


class Unsubscribe(MemberOperation):
    """`unsubscribe()` on a consumer that runs."""

    name = "unsubscribe"
    meaning = "a running member gives up one of its topics"
    weight = 1.0
    agreeing = False

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(with_two(draft, group))

    def play(self, draft: Draft, group: str) -> list[Step]:
        member = draft.rng.choice(with_two(draft, group))
        topic = draft.rng.choice(sorted(member.wants))
        del member.wants[topic]
        draft.story.append(f"{member.name} gives up {topic}")
        return [{"unsubscribe": {"consumer": member.name, "topic": topic}}]
