"""Members that were not there yet join."""

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
