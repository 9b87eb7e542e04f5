"""Whether the steps can happen in their order.

Of a consumer it is known in which states it may be: exactly one as long as steps name it, several after a
step on a variable that may stand for it. A step is refused only where no state is possible, so there are no
false alarms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.scenario import Scenario
from harness.spec.diagnostics import Diagnostic
from harness.spec.places import Document
from harness.spec.words import PlacedWord
from harness.steps import STEPS, Step
from harness.steps.bind import Bind
from harness.steps.settle import Settle
from harness.steps.start import Start

_NEW = "new"
_ANY = frozenset(state for step in STEPS.values() if step.moves for state in (*step.moves[0], step.moves[1]))

_ADJECTIVES = {_NEW: "not yet started"}


@dataclass(slots=True)
class _Actor:
    """A consumer or a variable: the states that it may be in, and the line of the last step that named it."""

    states: frozenset[str]
    line: int | None = None


@dataclass(slots=True)
class _Course:
    """What is known between two steps."""

    document: Document
    scenario: Scenario
    steps: list[PlacedWord]
    consumers: dict[str, _Actor]
    variables: dict[str, _Actor] = field(default_factory=dict)

    def line(self, placed: PlacedWord) -> int:
        return self.document.places.of(placed.path, key=True).line


def check_order(
    document: Document, scenario: Scenario, steps: list[PlacedWord], all_defined: bool
) -> Iterator[Diagnostic]:
    """Every step that is impossible where it stands.

    Undefined names are passed over. Unless all names are defined, what a step itself says of the scenario is
    not asked.
    """
    if not any(isinstance(placed.word, Start) for placed in steps):
        yield document.report(("steps",), "no step starts a consumer: begin with `start`", key=True)
        return
    consumers = {name: _Actor(frozenset((_NEW,))) for name in scenario.consumers}
    course = _Course(document, scenario, steps, consumers)
    for placed in steps:
        step = placed.word
        assert isinstance(step, Step)
        for problem in step.problems(scenario) if all_defined else ():
            yield document.report(placed.path, problem, key=True)
        yield from _members_started(course, placed)
        yield from _moved(course, placed, step)
        for variable in step.binds():
            course.variables[variable] = _Actor(_ANY, course.line(placed))


def _members_started(course: _Course, placed: PlacedWord) -> Iterator[Diagnostic]:
    """Ownership, subscription and offsets of a group exist once a member has started."""
    step = placed.word
    groups: list[str | None] = []
    if isinstance(step, Settle):
        groups = [step.ownership, step.subscription, step.offsets]
    elif isinstance(step, Bind):
        groups = [selector.member_of for selector in (step.__pydantic_extra__ or {}).values()]
    for group in filter(None, groups):
        members = course.scenario.members(group)
        if members and all(course.consumers[name].states == {_NEW} for name in members):
            who = ", ".join(members)
            message = f"no member of group `{group}` ({who}) has been started before this `{step.word}`"
            yield course.document.report(placed.path, message, key=True)


def _moved(course: _Course, placed: PlacedWord, step: Step) -> Iterator[Diagnostic]:
    if step.moves is None:
        return
    before, after = frozenset(step.moves[0]), step.moves[1]
    names = step.acts_on()
    for index, name in enumerate(names):
        variable = name.startswith("$")
        actor = course.variables.get(name[1:]) if variable else course.consumers.get(name)
        if actor is None:
            continue
        if not actor.states & before:
            path = course.document.in_file((*placed.path, str(step.shorthand), index))
            yield course.document.report(path, _impossible(course, placed, name, actor))
        _may_be_the_same(course, name, before, after)
        actor.states, actor.line = frozenset((after,)), course.line(placed)


def _may_be_the_same(course: _Course, name: str, before: frozenset[str], after: str) -> None:
    """Whoever a variable may stand for may have moved with it, and the other way round."""
    others = dict(course.variables)
    if name.startswith("$"):
        others |= course.consumers
        del others[name[1:]]
    for other in others.values():
        if other.states & before:
            other.states |= {after}


def _impossible(course: _Course, placed: PlacedWord, name: str, actor: _Actor) -> str:
    step = placed.word
    assert isinstance(step, Step)
    assert step.moves is not None
    why = f"{name} {_told(actor)}"
    if actor.states == {_NEW}:
        starts = (one for one in course.steps if isinstance(one.word, Start) and name in one.word.acts_on())
        first = next(starts, None)
        line = f"the first `start` of {name} is in line {course.line(first)}" if first is not None else None
        where = line or "no step starts it"
        return f"`{step.word}: {name}`: {why} ({where})"
    needed = " or ".join(_ADJECTIVES.get(state, state) for state in step.moves[0])
    return f"`{step.word}: {name}`: {why}; it must be {needed}"


def _told(actor: _Actor) -> str:
    if len(actor.states) > 1:
        return "may be " + " or ".join(_ADJECTIVES.get(state, state) for state in sorted(actor.states))
    (state,) = actor.states
    told = {_NEW: "has not been started", "stopped": "was stopped in", "killed": "was killed in"}
    since = told.get(state, f"is {state} since")
    return since if actor.line is None else f"{since} line {actor.line}"
