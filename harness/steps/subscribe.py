"""`subscribe`: a running consumer changes its mind."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.core.events.clients import SubscriptionRefused
from rocketchaos.harness.language.consumer_spec import Consumer
from rocketchaos.harness.language.expressions import ExpressionField, as_data
from rocketchaos.harness.language.words import ConsumerRef, TopicName, expression_doubt
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext


def no_resubscribing(name: str, consumer: Consumer | None) -> Iterator[str]:
    """Why a consumer can't change its subscriptions while it runs, where that is so; None: unknown."""
    if consumer is not None and not consumer.traits.resubscribes:
        yield f"{name} is a {consumer.traits.implementation}, which takes its topics only at its start"


class Subscribe(Step):
    """Let a running consumer subscribe, to a new topic or to its own with another expression.

    The client sends a heartbeat at once: the brokers hold its subscription for the whole group when this returns.
    A restart forgets it.
    """

    word = "subscribe"
    moves: ClassVar = (("running",), "running")
    acts_on_process = False
    resubscribes = True
    example = "subscribe: {consumer: a, topic: orders, expression: tagB}"

    consumer: ConsumerRef = Field(description="the consumer")
    topic: TopicName = Field(description="the topic")
    expression: ExpressionField = Field(description='a tag expression, or `{sql: "a = 1"}`')

    may_be_refused: bool = Field(
        default=False, description="a refusal by RocketMQ is recorded, and the run continues"
    )

    def acts_on(self) -> tuple[str, ...]:
        return (self.consumer,)

    def problems(self, scenario: Scenario) -> Iterator[str]:
        consumer = scenario.consumers.get(self.consumer)
        yield from no_resubscribing(self.consumer, consumer)
        if consumer is not None and consumer.strategy == "by-config" and self.topic not in consumer.subscribe:
            yield f"{self.consumer} owns only what its `queues` are at its start: `by-config` takes no new topic"

    def doubts(self, scenario: Scenario) -> Iterator[str]:
        del scenario
        if isinstance(self.expression, str) and (doubt := expression_doubt(self.expression)):
            yield doubt

    def run(self, context: StepContext) -> None:
        for name in context.variables.resolve([self.consumer]):
            try:
                context.consumers[name].subscribe(self.topic, self.expression)
            except RequestFailed as refusal:
                if not self.may_be_refused or not refusal.is_refusal:
                    raise
                refused = SubscriptionRefused(
                    topic=self.topic,
                    expression=as_data(self.expression),
                    error=refusal.message,
                    code=refusal.code,
                    exceptions=refusal.exceptions,
                )
                context.history.append(name, refused)
