"""`client-pull`: what a consumer's own client makes of a broker's answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from rocketchaos.harness.core.events.clients import ClientPulled
from rocketchaos.harness.language.words import BrokerRef, ConsumerName, TagExpression, TopicName
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext

_API = "pull"


class ClientPull(Step):
    """Let a consumer of `api: pull` pull once more, and see what its client makes of the answer.

    The result is a PullStatus, or an exception. Nothing is committed, and no listener gets the messages. The
    check `client-pull: {of: c1, …}` states what it must be.
    """

    word = "client-pull"
    example = "client-pull: {as: c1, consumer: puller, topic: orders, queue: 0, offset: 100}"

    name: str = Field(
        alias="as", pattern=r"^[a-z][a-z0-9-]*$", description="the name by which checks find the answer"
    )
    consumer: ConsumerName = Field(description="the consumer")
    topic: TopicName = Field(description="the topic")
    queue: int = Field(ge=0, le=2**31 - 1, description="the id of the queue; it need not exist")
    offset: int = Field(
        ge=-(2**63), le=2**63 - 1, description="the offset from which to pull, also one below 0"
    )
    own_expression: TagExpression = Field(
        default="*", alias="with", description="the tag expression that goes with it"
    )
    broker: BrokerRef | None = Field(default=None, description="the broker; default: the topic's first one")

    def defines(self) -> tuple[tuple[str, str], ...]:
        return (("client-pull", self.name),)

    def problems(self, scenario: Scenario) -> Iterator[str]:
        consumer = scenario.consumers.get(self.consumer)
        if consumer is not None and consumer.api != _API:
            yield f"{self.consumer} doesn't pull by itself: give it `api: {_API}`"

    def run(self, context: StepContext) -> None:
        broker = self.broker or context.scenario.brokers_of(self.topic)[0]
        answer = context.consumers[self.consumer].pull_once(
            self.topic, (broker, self.queue), self.offset, self.own_expression
        )
        fields = {"name": self.name, "topic": self.topic, "broker": broker, "queue_id": self.queue}
        context.history.append(
            self.consumer,
            ClientPulled.kind,
            {**fields, "offset": self.offset, "with": self.own_expression, **answer},
        )
