"""A member stands still for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.nightly.acts.base import MemberAct

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Step


class Pause(MemberAct):
    """SIGSTOP and SIGCONT."""

    name = "pause"
    meaning = "a member's process stands still, and goes on"

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(draft.killable(group))

    def play(self, draft: Draft, group: str) -> list[Step]:
        member = draft.rng.choice(draft.killable(group))
        draft.story.append(f"{member.name} stands still")
        wait = draft.wait(500, 5000, "so long it stands still")
        return [{"pause": member.name}, *wait, {"resume": member.name}]
