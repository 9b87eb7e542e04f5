"""`stop`: consumers and servers leave in good order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from rocketchaos.harness.language.words import ActorRefs
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext
    from rocketchaos.harness.scenario.model import Scenario


class Stop(Step):
    """Shut consumers or nodes down gracefully.

    A consumer persists its offsets and tells the broker (code 35). A node writes down what it has, as RocketMQ
    does on SIGTERM, and comes back by `restart`.
    """

    word = "stop"
    example = "stop: b"
    shorthand = "targets"
    moves: ClassVar = (("running",), "stopped")
    acts_on_process = False

    targets: ActorRefs = Field(
        description="the consumers and nodes to stop, in this order: `b`, `broker-a`, `nameserver`"
    )

    def acts_on(self) -> tuple[str, ...]:
        return self.targets

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        yield from ("stop" for target in self.targets if target in scenario.cluster.nodes)

    def run(self, context: RunContext) -> None:
        from rocketchaos.harness.faults.stop_node import StopNode

        for name in context.resolve(self.targets):
            if context.is_node(name):
                context.faults.inject(StopNode(context, name))
            else:
                context.consumers[name].stop()
