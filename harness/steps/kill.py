"""`kill`: a consumer's process dies at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from harness.faults.kill import Kill as KillFault
from harness.language import ConsumerRefs
from harness.steps.base import Step

if TYPE_CHECKING:
    from harness.context import RunContext


class Kill(Step):
    """SIGKILL the processes of consumers: nothing is persisted, nobody is told; the kernel closes the sockets."""

    word = "kill"
    shorthand = "consumers"
    moves: ClassVar = (("running", "paused"), "killed")

    consumers: ConsumerRefs = Field(description="the consumers to kill, in this order")

    def acts_on(self) -> tuple[str, ...]:
        return self.consumers

    def run(self, context: RunContext) -> None:
        for name in context.resolve(self.consumers):
            context.faults.inject(KillFault(context.consumers[name]))
