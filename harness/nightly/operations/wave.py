"""Several members leave at once, and come back at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.nightly.operations.base import MemberOperation

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Step


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
