"""A rolling deployment: one member after the other is stopped and started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.nightly.operations.base import MemberOperation

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Step


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
