"""How `repeat` and `parallel` go through their steps, without any cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable
from copy import copy
from typing import Any

import pytest

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.events.base import Body
from rocketchaos.harness.steps.base import Step
from rocketchaos.harness.steps.parallel import Parallel
from rocketchaos.harness.steps.performing import BranchEnded, perform
from rocketchaos.harness.steps.repeat import Repeat
from rocketchaos.harness.steps.step_place import Place

LIMIT_S = 10.0


class Context:
    """What `perform` needs of a StepContext, with a list in place of the history."""

    def __init__(self) -> None:
        self.place = Place((0,))
        self.written: list[tuple[str, Place, str]] = []
        self.interrupted = threading.Event()
        self._ends: tuple[threading.Event, ...] = ()

    def within(self, place: Place, end: threading.Event | None = None) -> Context:
        inner = copy(self)
        inner.place, inner._ends = place, (*self._ends, *([end] if end else []))
        return inner

    def check_alive(self) -> None:
        if self.interrupted.is_set():
            raise KeyboardInterrupt
        if any(end.is_set() for end in self._ends):
            raise BranchEnded

    def record_step(self, step: Step, kind: type[Body]) -> None:
        self.written.append((kind.kind, self.place, step.word))

    def places(self, kind: str = "step-started") -> list[tuple[int, ...]]:
        return [place.indices for text, place, _ in self.written if text == kind]


class Doing(Step):
    """Does what a test gives it."""

    word = "doing"

    do: Any

    def run(self, context: Any) -> None:
        self.do(context)


def doing(do: Callable[[Any], object] = lambda _: None) -> Doing:
    return Doing.model_construct(do=do)


def repeat(times: int, *steps: Step) -> Repeat:
    return Repeat.model_construct(times=times, steps=steps)


def parallel(*branches: list[Step]) -> Parallel:
    return Parallel.model_construct(branches=tuple(tuple(branch) for branch in branches))


def played(step: Step) -> Context:
    context = Context()
    perform(context, step)  # type: ignore[arg-type]
    return context


def until_ended(context: Any) -> None:
    """As a step that waits: it looks whether it is to end."""
    for _ in range(round(LIMIT_S * 100)):
        context.check_alive()
        threading.Event().wait(0.01)
    raise AssertionError("nobody ended it")


def fail(_context: Any) -> None:
    raise PreconditionNotMet("it did not settle")


def test_a_repeat_says_which_iteration_it_is_in() -> None:
    context = played(repeat(2, doing(), doing()))
    started = [
        (place.indices, place.iteration) for kind, place, _ in context.written if kind == "step-started"
    ]
    assert started == [
        ((0,), None),
        *(((0, 0, 0), 1), ((0, 0, 1), 1)),
        *(((0, 0, 0), 2), ((0, 0, 1), 2)),
    ]
    assert len(context.places("step-ended")) == len(started)


def test_branches_inherit_the_iteration_and_are_side_by_side() -> None:
    both = threading.Barrier(2, timeout=LIMIT_S)
    context = played(repeat(2, parallel([doing(lambda _: both.wait())], [doing(lambda _: both.wait())])))
    inner = [place for kind, place, word in context.written if kind == "step-started" and word == "doing"]
    assert sorted((place.indices, place.iteration) for place in inner) == [
        ((0, 0, 0, 0, 0), 1),
        ((0, 0, 0, 0, 0), 2),
        ((0, 0, 0, 1, 0), 1),
        ((0, 0, 0, 1, 0), 2),
    ]


def test_a_failure_ends_the_other_branches_and_is_the_outcome() -> None:
    context = Context()
    step = parallel([doing(until_ended), doing()], [doing(fail), doing()])
    with pytest.raises(PreconditionNotMet, match="it did not settle"):
        perform(context, step)  # type: ignore[arg-type]
    assert sorted(context.places()) == [(0,), (0, 0, 0), (0, 1, 0)]
    assert context.places("step-ended") == []
    assert threading.active_count() == 1 or not any(
        thread.name.startswith("branch-") for thread in threading.enumerate()
    )


def test_a_failure_ends_branches_within_branches() -> None:
    context = Context()
    inner = parallel([doing(until_ended)], [doing(until_ended)])
    with pytest.raises(PreconditionNotMet):
        perform(context, parallel([inner, doing()], [doing(fail)]))  # type: ignore[arg-type]
    assert (0, 0, 1) not in context.places()
    assert context.places("step-ended") == []


def test_a_failure_in_an_iteration_is_the_last_one() -> None:
    context = Context()
    with pytest.raises(PreconditionNotMet):
        perform(context, repeat(5, doing(), doing(fail)))  # type: ignore[arg-type]
    assert context.places() == [(0,), (0, 0, 0), (0, 0, 1)]


def test_an_interruption_ends_all_branches() -> None:
    context = Context()
    step = parallel([doing(until_ended)], [doing(lambda inner: inner.interrupted.set()), doing()])
    with pytest.raises(KeyboardInterrupt):
        perform(context, step)  # type: ignore[arg-type]
    assert context.places("step-ended") in ([(0, 1, 0)], [])
