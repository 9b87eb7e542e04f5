"""A group is deleted while its members run: their next heartbeats create it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.nightly.operations.base import MemberOperation

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Step


class DeleteGroup(MemberOperation):
    """DELETE_SUBSCRIPTIONGROUP, without its offsets, so that it goes on where it was.

    Its retry topic goes too, with what waits in it: where a member ever fails, or pops, messages would be lost by
    the deletion itself, which the oracle could not tell from a loss.
    """

    name = "delete-group"
    meaning = "a group that retries nothing is deleted, and its running members create it again"
    weight = 0.5

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(draft.running(group)) and all(
            "fail" not in member.fields.get("behaviour", {}) and member.fields.get("api", "push") != "pop"
            for member in draft.of(group)
        )

    def play(self, draft: Draft, group: str) -> list[Step]:
        draft.story.append(f"{group} is deleted, and created again")
        return [{"delete-group": group}]
