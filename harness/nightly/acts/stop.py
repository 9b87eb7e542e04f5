"""A member shuts down, and mostly starts again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.nightly.acts.base import MemberAct

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Step


class Stop(MemberAct):
    """As SIGTERM does where the application shuts its client down."""

    name = "stop"
    meaning = "a member shuts down"

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(draft.running(group))

    def play(self, draft: Draft, group: str) -> list[Step]:
        member = draft.rng.choice(draft.running(group))
        draft.story.append(f"{member.name} shuts down")
        return [*draft.gone("stop", [member]), *draft.comes_back([member])]
