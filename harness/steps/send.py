"""`send`: a tagged batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from harness.errors import PreconditionNotMet
from harness.language import TagRef, TopicName
from harness.steps.base import Step

if TYPE_CHECKING:
    from harness.context import RunContext
    from harness.scenario import Scenario


class Send(Step):
    """Send messages of one tag, one after the other, each acknowledged before the next.

    With `per_queue` they go round the queues in order, so that each queue gets exactly so many; without it
    the producer's own round robin decides, which starts at a random queue.
    """

    word = "send"

    topic: TopicName = Field(description="the topic")
    tag: TagRef | None = Field(default=None, description="the tag of every message; none: untagged")
    count: int = Field(gt=0, le=100_000, description="how many messages")
    per_queue: int | None = Field(
        default=None, gt=0, description="how many go to each queue; `count` is then this times the queues"
    )

    def problems(self, scenario: Scenario) -> Iterator[str]:
        queues = scenario.queue_count(self.topic)
        if self.per_queue is not None and self.count != self.per_queue * queues:
            yield (
                f"`count: {self.count}` is not `per_queue: {self.per_queue}` times the {queues} queues of "
                f"{self.topic}: write `count: {self.per_queue * queues}`"
            )

    def run(self, context: RunContext) -> None:
        tag = context.tag(self.tag, self.topic)
        queues = context.queues(self.topic)
        refused = []
        for index in range(self.count):
            queue = queues[index % len(queues)] if self.per_queue is not None else None
            if not context.producer.send(self.topic, tag, queue):
                refused.append(context.producer.last_error)
                context.check_alive()
        if refused:
            raise PreconditionNotMet(
                f"send: {len(refused)} of {self.count} messages to {self.topic} were not acknowledged: "
                f"{refused[-1]}"
            )
