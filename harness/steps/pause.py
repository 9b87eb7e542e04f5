"""`pause`: a process stands still, a client's or a server's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from rocketchaos.harness.language.words import ProcessRefs
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext
    from rocketchaos.harness.scenario.model import Scenario


class Pause(Step):
    """SIGSTOP the processes of clients or of nodes: connections stay open, and nothing moves.

    A paused consumer neither heartbeats nor pulls; a paused node answers nobody; a paused producer goes on with
    what it was sending when it is resumed, and what has had no answer after 8 s counts as not acknowledged.
    """

    word = "pause"
    shorthand = "targets"
    moves: ClassVar = (("running",), "paused")
    example = "pause: broker-a"

    targets: ProcessRefs = Field(description="whom to pause, in this order: consumers, nodes, the `producer`")

    def acts_on(self) -> tuple[str, ...]:
        return self.targets

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        yield from ("pause" for target in self.targets if target in scenario.cluster.nodes)

    def run(self, context: RunContext) -> None:
        from rocketchaos.harness.faults.pause import Pause as PauseFault
        from rocketchaos.harness.faults.pause_node import PauseNode

        for name in context.resolve(self.targets):
            if context.is_node(name):
                context.faults.inject(PauseNode(context, name))
            else:
                context.faults.inject(PauseFault(context.client(name)))
