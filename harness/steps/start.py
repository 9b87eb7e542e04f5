"""`start`: consumers begin to consume."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from harness.language import ConsumerRefs
from harness.steps.base import Step

if TYPE_CHECKING:
    from harness.context import RunContext


class Start(Step):
    """Start consumers, one after the other, each in a process of its own.

    Returns when `DefaultMQPushConsumer.start()` has returned; use `settle` to wait for what follows from it.
    """

    word = "start"
    shorthand = "consumers"
    moves: ClassVar = (("new", "stopped", "killed"), "running")

    consumers: ConsumerRefs = Field(description="the consumers to start, in this order")

    def acts_on(self) -> tuple[str, ...]:
        return self.consumers

    def run(self, context: RunContext) -> None:
        for name in context.resolve(self.consumers):
            context.consumers[name].start()
