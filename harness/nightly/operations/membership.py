"""Members join, leave and come back, or pull no more for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.nightly.operations.base import MemberOperation

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Member, Step


def newcomers(draft: Draft, group: str) -> list[Member]:
    """Those that were declared and never started."""
    return [member for member in draft.of(group) if member.state == "new"]


class Join(MemberOperation):
    """A wave of starts."""

    name = "join"
    meaning = "further members join"
    weight = 3.0

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(newcomers(draft, group))

    def play(self, draft: Draft, group: str) -> list[Step]:
        joining = newcomers(draft, group)
        draft.story.append(f"{' and '.join(newcomer.name for newcomer in joining)} joins")
        return draft.start(joining)


class Wave(MemberOperation):
    """Stops of all but one, then starts."""

    name = "wave"
    meaning = "all members but one leave at once, and come back"
    weight = 1.0

    def possible(self, draft: Draft, group: str) -> bool:
        return len(draft.running(group)) > 1

    def play(self, draft: Draft, group: str) -> list[Step]:
        running = draft.running(group)
        stays = draft.rng.choice(running)
        leaving = [member for member in running if member is not stays]
        draft.story.append(f"all but {stays.name} leave and come back")
        gone = draft.gone("stop", leaving)
        return [*gone, *draft.wait(0, 2000, "how long they are away"), *draft.start(leaving)]


class Rolling(MemberOperation):
    """Each leaves and comes back before the next one does."""

    name = "rolling"
    meaning = "a rolling deployment: one member after the other is stopped and started"
    weight = 1.0

    def possible(self, draft: Draft, group: str) -> bool:
        return len(draft.running(group)) > 1

    def play(self, draft: Draft, group: str) -> list[Step]:
        draft.story.append(f"{group} is redeployed, one member after the other")
        steps: list[Step] = []
        for member in draft.running(group):
            steps += [*draft.gone("stop", [member]), *draft.start([member])]
            steps += draft.wait(0, 1500, "the deployment takes its time")
        return steps


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
