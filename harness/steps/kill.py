"""`kill`: a process dies at once, a consumer's or a server's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from harness.faults.kill import Kill as KillFault
from harness.faults.kill_node import KillNode
from harness.language import ActorRefs
from harness.steps.base import Step

if TYPE_CHECKING:
    from harness.context import RunContext
    from harness.scenario import Scenario


class Kill(Step):
    """SIGKILL the processes of consumers or of nodes: nothing is persisted, nobody is told; the kernel closes the
    sockets.

    A killed consumer comes back by `start` or `restart`, a killed node by `restart`, with what its store has.
    """

    word = "kill"
    shorthand = "targets"
    moves: ClassVar = (("running", "paused"), "killed")
    example = "kill: b"

    targets: ActorRefs = Field(
        description="the consumers and nodes to kill, in this order: `b`, `broker-a`, `nameserver`"
    )

    def acts_on(self) -> tuple[str, ...]:
        return self.targets

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        yield from ("kill" for target in self.targets if target in scenario.cluster.nodes)

    def run(self, context: RunContext) -> None:
        for name in context.resolve(self.targets):
            if context.is_node(name):
                context.faults.inject(KillNode(context, name))
            else:
                context.faults.inject(KillFault(context.consumers[name]))
