"""`kill`: a process dies at once, a client's or a server's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from rocketchaos.harness.language.words import ProcessRefs
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext
    from rocketchaos.harness.scenario.model import Scenario


class Kill(Step):
    """SIGKILL the processes of clients or of nodes: nothing is persisted, nobody is told; the kernel closes the
    sockets.

    A killed consumer comes back by `start` or `restart`, a killed node by `restart`, with what its store has, and
    the producer by `restart`: what it was sending may be stored or not, and until it is back nothing is sent, so
    that a `send` in another branch of a `parallel` needs `may_fail`.
    """

    word = "kill"
    shorthand = "targets"
    moves: ClassVar = (("running", "paused"), "killed")
    example = "kill: b"

    targets: ProcessRefs = Field(description="whom to kill, in this order: consumers, nodes, the `producer`")

    def acts_on(self) -> tuple[str, ...]:
        return self.targets

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        yield from ("kill" for target in self.targets if target in scenario.cluster.nodes)

    def run(self, context: RunContext) -> None:
        from rocketchaos.harness.faults.kill import Kill as KillFault
        from rocketchaos.harness.faults.kill_node import KillNode

        for name in context.resolve(self.targets):
            if context.is_node(name):
                context.faults.inject(KillNode(context, name))
            else:
                context.faults.inject(KillFault(context.client(name)))
