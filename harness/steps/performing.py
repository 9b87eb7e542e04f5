"""How a step is done, one inside another included: written down before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.core.events.run import StepEnded, StepStarted

if TYPE_CHECKING:
    from rocketchaos.harness.steps.base import Step
    from rocketchaos.harness.steps.context import StepContext


class BranchEnded(Exception):
    """Another branch of the `parallel` around it failed, so this one ends; never leaves the `parallel`."""


def perform(context: StepContext, step: Step) -> None:
    """Do the step that stands at the context's place.

    Raises:
        PreconditionNotMet, EnvironmentNotReady: as `Step.run`.
        KeyboardInterrupt: the user wants the run to end.
        BranchEnded: the step is in a branch that is to end.
    """
    context.check_alive()
    context.record_step(step, StepStarted)
    step.run(context)
    context.record_step(step, StepEnded)
