"""`suspend-consumer`: a consumer's client asks for no more messages, and stays a member."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from rocketchaos.harness.language.words import ConsumerRefs
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext


class PullsOfItsClient(Step):
    """What a consumer's own client can do with its pulls."""

    moves: ClassVar = (("running",), "running")
    acts_on_process = False
    shorthand = "consumers"

    consumers: ConsumerRefs = Field(description="the consumers")

    def acts_on(self) -> tuple[str, ...]:
        return self.consumers

    def beyond(self, scenario: Scenario) -> Iterator[tuple[str, str]]:
        for name in self.consumers:
            consumer = scenario.consumers.get(name)
            if consumer is not None and not consumer.traits.suspends:
                yield name, f"{consumer.traits.implementation} of {consumer.choice.kind.title} can't do it"


class SuspendConsumer(PullsOfItsClient):
    """Let a consumer's client pull no more: `DefaultMQPushConsumer.suspend()`, `Suspend()` of Go.

    Unlike `pause`, its process runs on. It stays a member of its group, sends heartbeats, and keeps its queues, so
    that what is in them waits. Messages that it has in its cache, and those of a pull that the broker holds, still
    reach the listener. `resume-consumer` ends it, and so does a new start.
    """

    word = "suspend-consumer"
    example = "suspend-consumer: a"

    def run(self, context: StepContext) -> None:
        for name in context.variables.resolve(self.consumers):
            context.consumers[name].suspend()
