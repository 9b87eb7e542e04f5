"""`pause`: a consumer's process stands still."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from harness.faults.pause import Pause as PauseFault
from harness.language import ConsumerRefs
from harness.steps.base import Step

if TYPE_CHECKING:
    from harness.context import RunContext


class Pause(Step):
    """SIGSTOP the processes of consumers: connections stay open, heartbeats and pulls stop."""

    word = "pause"
    shorthand = "consumers"
    moves: ClassVar = (("running",), "paused")

    consumers: ConsumerRefs = Field(description="the consumers to pause, in this order")

    def acts_on(self) -> tuple[str, ...]:
        return self.consumers

    def run(self, context: RunContext) -> None:
        for name in context.resolve(self.consumers):
            context.faults.inject(PauseFault(context.consumers[name]))
