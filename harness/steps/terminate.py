"""`terminate`: a client's process is asked to end, and leaves in good order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from rocketchaos.harness.language.words import ProcessRefs
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext
    from rocketchaos.harness.scenario.model import Scenario


class Terminate(Step):
    """SIGTERM the processes of clients, each of which shuts its client down and ends, as with a shutdown hook.

    A consumer persists its offsets and tells the broker (code 35); a listener that blocks or takes its time isn't
    waited for. It comes back by `start` or `restart`, and the producer by `restart`: what that was sending may be
    stored or not, and until it is back nothing is sent, so that a `send` in another branch of a `parallel` needs
    `may_fail`. Servers have `stop` for it, which is SIGTERM there.
    """

    word = "terminate"
    shorthand = "targets"
    moves: ClassVar = (("running",), "stopped")
    example = "terminate: b"

    targets: ProcessRefs = Field(
        description="whom to terminate, in this order: consumers, the `producer`; for nodes there is `stop`"
    )

    def acts_on(self) -> tuple[str, ...]:
        return self.targets

    def problems(self, scenario: Scenario) -> Iterator[str]:
        for target in self.targets:
            if target in scenario.cluster.nodes:
                yield f"a server gets its SIGTERM by `stop`: write `stop: {target}`"

    def run(self, context: RunContext) -> None:
        from rocketchaos.harness.faults.terminate import Terminate as TerminateFault

        for name in context.resolve(self.targets):
            context.faults.inject(TerminateFault(context.client(name)))
