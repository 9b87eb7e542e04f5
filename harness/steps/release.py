"""`release`: listeners that block go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from rocketchaos.harness.language.words import ConsumerRefs
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext


class Release(Step):
    """Let the listeners that block by their `behaviour` continue; they block no more messages.

    The messages that they held succeed then, or fail if they also have `fail`. After a new start the consumer
    blocks again.
    """

    word = "release"
    shorthand = "consumers"
    moves: ClassVar = (("running",), "running")
    acts_on_process = False
    example = "release: a"

    consumers: ConsumerRefs = Field(description="the consumers that continue")

    def acts_on(self) -> tuple[str, ...]:
        return self.consumers

    def problems(self, scenario: Scenario) -> Iterator[str]:
        for name in self.consumers:
            consumer = scenario.consumers.get(name)
            if consumer is not None and not consumer.behaviour.blocks:
                yield f"the listener of {name} never blocks: give {name} `behaviour: block`"

    def run(self, context: StepContext) -> None:
        for name in context.variables.resolve(self.consumers):
            context.consumers[name].release_listener()
