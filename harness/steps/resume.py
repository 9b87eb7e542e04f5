"""`resume`: a paused consumer goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from harness.language import ConsumerRefs
from harness.steps.base import Step

if TYPE_CHECKING:
    from harness.context import RunContext


class Resume(Step):
    """SIGCONT the processes of paused consumers."""

    word = "resume"
    shorthand = "consumers"
    moves: ClassVar = (("paused",), "running")

    consumers: ConsumerRefs = Field(description="the consumers to resume, in this order")

    def acts_on(self) -> tuple[str, ...]:
        return self.consumers

    def run(self, context: RunContext) -> None:
        for name in context.resolve(self.consumers):
            context.faults.heal(f"pause {name}")
