"""`parallel`: several things at the same time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator, Field

from rocketchaos.harness.language.words import as_tuple
from rocketchaos.harness.steps import StepEntry
from rocketchaos.harness.steps.base import Step
from rocketchaos.harness.steps.performing import BranchEnded, perform

if TYPE_CHECKING:
    from rocketchaos.harness.steps.context import StepContext

_JOIN_S = 0.2
"""The wait for a branch goes in slices, so that Ctrl-C gets through."""


class Parallel(Step):
    """Do several lists of steps at the same time, the steps of each in order.

    It ends once all lists have ended. If a step fails, the other lists end before their next step, or in the
    middle of a step that waits; the first failure is the run's. The other lists know a variable that one list
    binds only after the `parallel`.
    """

    word = "parallel"
    shorthand = "branches"
    example = """\
parallel:
  - [send: {topic: orders, tag: tagA, count: 100}]
  - [kill: b, start: b]
"""
    nested = "branches"
    concurrent = True

    branches: Annotated[
        tuple[
            Annotated[tuple[StepEntry, ...], Field(min_length=1), BeforeValidator(as_tuple)],
            ...,
        ],
        BeforeValidator(as_tuple),
    ] = Field(min_length=2, max_length=16, description="lists of steps, each in order, all at the same time")

    def inner(self) -> tuple[tuple[Step, ...], ...]:
        return self.branches

    def run(self, context: StepContext) -> None:
        ended = threading.Event()
        failures: list[BaseException] = []

        def play(number: int, branch: tuple[Step, ...]) -> None:
            try:
                for index, step in enumerate(branch):
                    perform(context.within(context.place.inside(number, index), ended), step)
            except BranchEnded:
                pass
            except BaseException as failure:  # handed over to the thread that waits
                failures.append(failure)
                ended.set()

        threads = [
            threading.Thread(target=play, args=(number, branch), name=f"branch-{number}", daemon=True)
            for number, branch in enumerate(self.branches)
        ]
        for thread in threads:
            thread.start()
        _join(threads, ended)
        if failures:
            raise failures[0]
        context.check_alive()


def _join(threads: list[threading.Thread], ended: threading.Event) -> None:
    """Wait for all branches to end. An interruption stops them first."""
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(_JOIN_S)
    finally:
        ended.set()
        for thread in threads:
            thread.join()
