"""A member's process is asked to end, and mostly another one starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.nightly.acts.base import MemberAct

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Step


class Terminate(MemberAct):
    """SIGTERM."""

    name = "terminate"
    meaning = "a member's process gets SIGTERM, shuts its client down, and ends"

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(draft.killable(group))

    def play(self, draft: Draft, group: str) -> list[Step]:
        member = draft.rng.choice(draft.killable(group))
        draft.story.append(f"{member.name} gets SIGTERM")
        return [*draft.gone("terminate", [member]), *draft.comes_back([member])]
