"""`observe`: write down what the broker says now, under a name that checks can refer to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.steps.context import StepContext


class Observe(Step):
    """Read subscriptions, ownership, offsets, tracks and pull counts of the whole scenario, now.

    Checks read them with `at: NAME`. After the last step the run makes the observation `end` automatically.
    """

    word = "observe"
    example = "observe: before-the-kill"
    shorthand = "name"

    name: str = Field(pattern=r"^[a-z][a-z0-9-]*$", description="the name of this moment: `before-the-kill`")

    def run(self, context: StepContext) -> None:
        from rocketchaos.harness.probes.moment import observe_moment

        observe_moment(context, self.name, context.place.iteration)
