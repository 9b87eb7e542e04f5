"""`seek`: a running consumer moves its own position in its queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.core.events.base import Queue
from rocketchaos.harness.core.events.clients import SeekRefused, Sought
from rocketchaos.harness.language.words import BrokerRef, ConsumerRef, TopicName
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext


class Seek(Step):
    """Let a running consumer of `api: lite-pull` move its own position: `DefaultLitePullConsumer.seek()`.

    Its client drops what it has cached of the queue, and interrupts the pull that is under way. The next `poll()`
    has messages from the new position on. The group's stored offset follows with the next commit.
    """

    word = "seek"
    moves: ClassVar = (("running",), "running")
    acts_on_process = False
    example = "seek: {consumer: a, topic: orders, queue: 0, to: begin}"

    consumer: ConsumerRef = Field(description="the consumer")
    topic: TopicName = Field(description="the topic")
    queue: int | None = Field(
        default=None,
        ge=0,
        le=2**31 - 1,
        description="the id of the queue, which the consumer need not have; default all that it has of the topic",
    )
    broker: BrokerRef | None = Field(
        default=None, description="the broker of that queue; default: the topic's first one"
    )
    to: Annotated[int, Field(strict=True)] | Literal["begin", "end"] = Field(
        description="an offset, also one that the queue doesn't have; `begin`: the first message that it has; "
        "`end`: the one that is sent next"
    )
    may_be_refused: bool = Field(
        default=False, description="a refusal by RocketMQ is recorded, and the run continues"
    )

    def acts_on(self) -> tuple[str, ...]:
        return (self.consumer,)

    def field_of(self, index: int) -> tuple[str | int, ...]:
        del index  # there is one
        return ("consumer",)

    def beyond(self, scenario: Scenario) -> Iterator[tuple[str, str]]:
        consumer = scenario.consumers.get(self.consumer)
        if consumer is not None and not consumer.traits.seeks:
            yield (
                self.consumer,
                f"{consumer.traits.implementation} of {consumer.choice.kind.title} has no seek()",
            )

    def problems(self, scenario: Scenario) -> Iterator[str]:
        del scenario
        if self.broker is not None and self.queue is None:
            yield "`broker` says where the queue is: give `queue` too"

    def run(self, context: StepContext) -> None:
        broker = self.broker or context.scenario.brokers_of(self.topic)[0]
        queue = None if self.queue is None else (broker, self.queue)
        for name in context.variables.resolve([self.consumer]):
            try:
                queues = context.consumers[name].seek(self.topic, queue, self.to)
            except RequestFailed as refusal:
                if not self.may_be_refused or not refusal.is_refusal:
                    raise
                refused = SeekRefused(
                    topic=self.topic,
                    to=str(self.to),
                    error=refusal.message,
                    code=refusal.code,
                    exceptions=refusal.exceptions,
                )
                context.history.append(name, refused)
                continue
            moved = tuple(Queue(broker=item["broker"], queue_id=item["queue_id"]) for item in queues)
            context.history.append(name, Sought(topic=self.topic, to=str(self.to), queues=moved))
