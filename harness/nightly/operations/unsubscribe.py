"""A running member gives a topic up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.nightly.operations.base import MemberOperation

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Member, Step


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
