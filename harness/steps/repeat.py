"""`repeat`: the same steps again and again, where one time proves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator, Field, model_validator

from rocketchaos.harness.language.words import as_tuple
from rocketchaos.harness.steps import StepEntry
from rocketchaos.harness.steps.base import Step
from rocketchaos.harness.steps.performing import perform

if TYPE_CHECKING:
    from rocketchaos.harness.steps.context import StepContext


class Repeat(Step):
    """Repeat the same steps in sequence, on the same topics and groups.

    A variable keeps its last value, and `outcome-distribution` reads all of them. An observation `seen`
    inside exists once for each iteration, as `seen-1`, `seen-2`, …; `seen` alone is the last one. Consumers
    that the steps start must be stopped or killed by them too, or the second iteration can't start them. A
    `repeat` can't contain another `repeat`, but it can contain a `parallel`.
    """

    word = "repeat"
    example = """\
repeat:
  times: 20
  steps:
    - start: [a, b]
    - settle: {subscription: g, topic: orders, within: 40s}
    - bind: {holder: {member-of: g, whose-subscription-is-stored-for: orders}}
    - stop: [a, b]
"""
    nested = "steps"

    times: int = Field(ge=1, le=1_000, description="how often")
    steps: Annotated[tuple[StepEntry, ...], BeforeValidator(as_tuple)] = Field(
        min_length=1, description="the steps of each iteration, in order"
    )

    @model_validator(mode="after")
    def _not_in_itself(self) -> Repeat:
        if any(isinstance(step, Repeat) for step in _all_within(self)):
            raise ValueError("a `repeat` can't contain another one: multiply their `times`")
        return self

    @property
    def rounds(self) -> int:
        return self.times

    def inner(self) -> tuple[tuple[Step, ...], ...]:
        return (self.steps,)

    def run(self, context: StepContext) -> None:
        for iteration in range(1, self.times + 1):
            for index, step in enumerate(self.steps):
                perform(context.within(context.place.inside(0, index, iteration)), step)


def _all_within(step: Step) -> list[Step]:
    found = [inner for branch in step.inner() for inner in branch]
    return found + [deeper for inner in found for deeper in _all_within(inner)]
