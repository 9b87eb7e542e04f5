"""`resume-consumer`: a suspended consumer's client pulls again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.steps.suspend_consumer import PullsOfItsClient

if TYPE_CHECKING:
    from rocketchaos.harness.steps.context import StepContext


class ResumeConsumer(PullsOfItsClient):
    """Let a consumer's client pull again after `suspend-consumer`: `DefaultMQPushConsumer.resume()`."""

    word = "resume-consumer"
    example = "resume-consumer: a"

    def run(self, context: StepContext) -> None:
        for name in context.variables.resolve(self.consumers):
            context.consumers[name].unsuspend()
