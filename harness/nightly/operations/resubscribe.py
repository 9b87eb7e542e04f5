"""A running member subscribes again."""

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
