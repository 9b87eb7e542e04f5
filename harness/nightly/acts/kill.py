"""A member is killed, and mostly started again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.nightly.acts.base import MemberAct

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Step


class Kill(MemberAct):
    """SIGKILL."""

    name = "kill"
    meaning = "a member's process is killed"
    weight = 4.0

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(draft.killable(group))

    def play(self, draft: Draft, group: str) -> list[Step]:
        member = draft.rng.choice(draft.killable(group))
        draft.story.append(f"{member.name} is killed")
        return [*draft.gone("kill", [member]), *draft.comes_back([member])]
