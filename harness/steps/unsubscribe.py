"""`unsubscribe`: a running consumer gives a topic up."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from rocketchaos.harness.language.words import ConsumerRef, TopicName
from rocketchaos.harness.steps.base import Step
from rocketchaos.harness.steps.subscribe import no_resubscribing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext


class Unsubscribe(Step):
    """Let a running consumer unsubscribe from a topic: it removes the topic from its own table, and sends nothing.

    The brokers drop the subscription, for the whole group, at the consumer's next heartbeat. A restart
    forgets it.
    """

    word = "unsubscribe"
    moves: ClassVar = (("running",), "running")
    acts_on_process = False
    resubscribes = True
    example = "unsubscribe: {consumer: a, topic: orders}"

    consumer: ConsumerRef = Field(description="the consumer")
    topic: TopicName = Field(description="the topic")

    def acts_on(self) -> tuple[str, ...]:
        return (self.consumer,)

    def problems(self, scenario: Scenario) -> Iterator[str]:
        yield from no_resubscribing(self.consumer, scenario.consumers.get(self.consumer))

    def run(self, context: StepContext) -> None:
        for name in context.variables.resolve([self.consumer]):
            context.consumers[name].unsubscribe(self.topic)
