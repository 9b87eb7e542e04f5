"""`start`: consumers begin to consume."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.language.words import ConsumerRefs
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.steps.context import StepContext


class Start(Step):
    """Start consumers, one after the other.

    Returns when the client's own `start()` has returned; use `settle` to wait for its effects. With
    `may_be_refused` the run continues if the client throws there, for example because no broker accepts its
    SQL subscription: its process ends, and the check `start-refused` reads what it threw. If the client
    reaches no server, the run ends with `error`. Use a `send` with `may_fail` there: it records the producer's
    exception, and `send-refused` reads it. After `stop` a consumer is a new client (`new
    DefaultMQPushConsumer`): RocketMQ starts none twice (`service state not OK`).
    """

    word = "start"
    example = "start: [a, b]"
    shorthand = "consumers"
    moves: ClassVar = (("new", "stopped", "killed"), "running")
    acts_on_process = False

    consumers: ConsumerRefs = Field(description="the consumers to start, in this order")

    may_be_refused: bool = Field(
        default=False, description="a start that RocketMQ refuses is recorded, and the run continues"
    )

    def acts_on(self) -> tuple[str, ...]:
        return self.consumers

    def run(self, context: StepContext) -> None:
        for name in context.variables.resolve(self.consumers):
            try:
                context.consumers[name].start()
            except RequestFailed as refusal:
                # Where the network failed nobody has refused it: RocketMQ could not be asked.
                if not self.may_be_refused or not refusal.is_refusal:
                    raise
                context.consumers[name].refused(refusal)
