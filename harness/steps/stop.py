"""`stop`: consumers leave in good order."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from harness.language import ConsumerRefs
from harness.steps.base import Step

if TYPE_CHECKING:
    from harness.context import RunContext


class Stop(Step):
    """Shut consumers down gracefully: offsets are persisted, the broker is told (code 35)."""

    word = "stop"
    example = "stop: b"
    shorthand = "consumers"
    moves: ClassVar = (("running",), "stopped")
    acts_on_process = False

    consumers: ConsumerRefs = Field(description="the consumers to stop, in this order")

    def acts_on(self) -> tuple[str, ...]:
        return self.consumers

    def run(self, context: RunContext) -> None:
        for name in context.resolve(self.consumers):
            context.consumers[name].stop()
