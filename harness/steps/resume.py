"""`resume`: a paused process goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from rocketchaos.harness.language.words import ProcessRefs
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext
    from rocketchaos.harness.scenario.model import Scenario


class Resume(Step):
    """SIGCONT the processes of paused clients or nodes."""

    word = "resume"
    shorthand = "targets"
    moves: ClassVar = (("paused",), "running")
    example = "resume: b"

    targets: ProcessRefs = Field(
        description="whom to resume, in this order: consumers, nodes, the `producer`"
    )

    def acts_on(self) -> tuple[str, ...]:
        return self.targets

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        yield from ("pause" for target in self.targets if target in scenario.cluster.nodes)

    def run(self, context: RunContext) -> None:
        for name in context.resolve(self.targets):
            context.faults.heal(f"pause {name}")
