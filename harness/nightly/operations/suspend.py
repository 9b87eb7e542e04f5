"""A member's client pulls no more for a while, and stays a member."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.nightly.operations.base import MemberOperation

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Member, Step


def suspendable(draft: Draft, group: str) -> list[Member]:
    """The running members whose clients can do it."""
    return [member for member in draft.running(group) if member.traits.suspends]


class Suspend(MemberOperation):
    """`suspend()`, then `resume()`: it doesn't rebalance meanwhile, and keeps what it owns."""

    name = "suspend"
    meaning = "a member's client pulls no more for a while, and stays a member"
    weight = 1.0

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(suspendable(draft, group))

    def play(self, draft: Draft, group: str) -> list[Step]:
        member = draft.rng.choice(suspendable(draft, group))
        draft.story.append(f"{member.name} is suspended for a while")
        wait = draft.wait(0, 4000, "how long it is suspended")
        return [{"suspend-consumer": member.name}, *wait, {"resume-consumer": member.name}]
