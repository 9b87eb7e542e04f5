"""What a step is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from harness.language import Word

if TYPE_CHECKING:
    from harness.context import RunContext
    from harness.scenario import Scenario


class Step(Word, ABC):
    """One thing that a scenario does.

    `moves` says which state a consumer must be in before the step and is in after it, for steps that act on
    consumers: a scenario whose steps can't happen in their order is refused before anything starts. The states
    are `new`, `running`, `paused`, `stopped` and `killed`.
    """

    moves: ClassVar[tuple[tuple[str, ...], str] | None] = None

    def acts_on(self) -> tuple[str, ...]:
        """The consumers, or variables, whose state the step changes by `moves`."""
        return ()

    def binds(self) -> tuple[str, ...]:
        """The variables that are defined from here on, without `$`."""
        return ()

    def problems(self, scenario: Scenario) -> Iterator[str]:
        """What is wrong with the step in this scenario, beyond names and order; one sentence each."""
        del scenario  # most steps have nothing to say
        yield from ()

    @abstractmethod
    def run(self, context: RunContext) -> None:
        """Do it, and record in the history what was done.

        Raises:
            PreconditionNotMet: a condition was not reached within its limit, or a fault took no effect.
            EnvironmentNotReady: a worker or a server failed.
        """
