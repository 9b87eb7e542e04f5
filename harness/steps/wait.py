"""`wait`: let time pass, where time itself is the point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from rocketchaos.assertions.where import Where
from rocketchaos.harness.language.words import DurationMs
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.steps.context import StepContext


class Wait(Step):
    """Let time pass. To wait for a condition, use `settle`."""

    word = "wait"
    example = "wait: {duration: 2s, because: the pause itself is what is tested}"
    shorthand = "duration"

    duration: DurationMs = Field(description="how long", gt=0)
    because: str | None = Field(default=None, description="why no `settle` can wait for a condition instead")
    where: Where | None = Field(default=None, description="only in these runs, `{client: grpc}`; default all")

    def run(self, context: StepContext) -> None:
        if self.where is None or self.where.fits(
            context.scenario.client_label, context.servers.cluster.version
        ):
            context.let_time_pass(self.duration)
