"""Whether faults of the network can begin and end as the steps say. It follows them as
`harness.scenario.step_order` follows the states of consumers: a possible order is never refused.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from rocketchaos.harness.language.fault_effects import ENDS
from rocketchaos.harness.language.fault_registry import RESTART
from rocketchaos.harness.scenario.diagnostics import Diagnostic
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.word_entries import PlacedWord, flat
from rocketchaos.harness.scenario.yaml_places import Document
from rocketchaos.harness.steps import Step
from rocketchaos.harness.steps.heal import Heal
from rocketchaos.harness.steps.network import Effect, NetworkStep
from rocketchaos.harness.steps.repeat import Repeat
from rocketchaos.harness.steps.start import Start


@dataclass(frozen=True, slots=True)
class _Active:
    """A fault that is in effect."""

    effect: Effect
    line: int
    sure: bool = True
    """It is in effect, whatever else happens."""


@dataclass(slots=True)
class _Course:
    document: Document
    scenario: Scenario
    active: list[_Active] = field(default_factory=list)
    ended: set[str] = field(default_factory=set)
    """Consumers whose process is gone: the next one has a network of its own."""

    def line(self, placed: PlacedWord) -> int:
        return self.document.places.of(placed.path, key=True).line


def check_network(document: Document, scenario: Scenario, steps: list[PlacedWord]) -> Iterator[Diagnostic]:
    """Every fault that is already in effect, every `heal` of one that isn't, and every start that would lose
    one."""
    yield from _in_order(_Course(document, scenario), steps)


def _in_order(course: _Course, steps: Iterable[PlacedWord]) -> Iterator[Diagnostic]:
    for placed in steps:
        step = placed.word
        assert isinstance(step, Step)
        if isinstance(step, NetworkStep):
            yield from _begun(course, placed, step)
        elif isinstance(step, Heal):
            yield from _healed(course, placed, step)
        elif isinstance(step, Start) or step.word == RESTART.word:
            yield from _started_anew(course, placed, step)
        elif step.word in ENDS:
            course.ended.update(step.acts_on())
        if isinstance(step, Repeat):
            yield from _repeated(course, placed, step.times)
        elif placed.branches:
            yield from _at_the_same_time(course, placed)


def _begun(course: _Course, placed: PlacedWord, step: NetworkStep) -> Iterator[Diagnostic]:
    for effect in step.effects(course.scenario):
        there = next((item for item in course.active if item.sure and item.effect.is_same(effect)), None)
        if there is None:
            course.active.append(_Active(effect, course.line(placed)))
        else:
            message = f"there is a {effect.kind} of {effect.target} since line {there.line}: `heal` it before"
            yield course.document.report(placed.path, message, key=True)


def _healed(course: _Course, placed: PlacedWord, step: Heal) -> Iterator[Diagnostic]:
    names = step.whom(course.scenario)
    meant = [
        item for item in course.active if step.means(item.effect.kind) and item.effect.may_concern(names)
    ]
    if not meant:
        yield course.document.report(placed.path, f"no {step.meant} is in effect here", key=True)
    course.active = [
        replace(item, sure=False) if item in meant else item
        for item in course.active
        if item not in meant or not item.effect.surely_concerns(names)
    ]


def _started_anew(course: _Course, placed: PlacedWord, step: Step) -> Iterator[Diagnostic]:
    for index, name in enumerate(step.acts_on()):
        if isinstance(step, Start) and name not in course.ended:
            continue  # its container has been there from the beginning
        lost = next((item for item in course.active if item.sure and name in item.effect.carriers), None)
        if lost is not None:
            message = (
                f"`{step.word}: {name}`: it can't be restarted during the {lost.effect.kind} of "
                f"{lost.effect.target}, which began in line {lost.line}: `heal` it before"
            )
            path = course.document.in_file((*placed.path, *step.field_of(index)))
            yield course.document.report(path, message)
    course.ended -= set(step.acts_on())


def _repeated(course: _Course, placed: PlacedWord, times: int) -> Iterator[Diagnostic]:
    """Follow it a second time too, because it begins in the state in which the first one ended."""
    (steps,) = placed.branches
    if times > 1:
        # What a later step begins may be there from the time before.
        course.active += _maybe(course, steps)
    first = list(_in_order(course, steps))
    yield from first
    if times > 1:
        reported = {(entry.line, entry.column) for entry in first}
        for item in _in_order(course, steps):
            if (item.line, item.column) not in reported:
                yield replace(item, message=f"the second time, {item.message}")


def _at_the_same_time(course: _Course, placed: PlacedWord) -> Iterator[Diagnostic]:
    """Follow each branch by itself. Anything that another branch begins or ends may be so or not."""
    before, after = course.active, list[_Active]()
    for branch in placed.branches:
        others = [inner for other in placed.branches if other is not branch for inner in flat(other)]
        heals = any(isinstance(item.word, Heal) for item in others)
        kept = [replace(item, sure=item.sure and not heals) for item in before]
        course.active = [*kept, *_maybe(course, others)]
        yield from _in_order(course, branch)
        after += course.active
    course.active = [replace(item, sure=False) for item in dict.fromkeys(after)]


def _maybe(course: _Course, steps: Iterable[PlacedWord]) -> list[_Active]:
    """The faults that these steps may put into effect."""
    return [
        _Active(effect, course.line(placed), sure=False)
        for placed in flat(steps)
        if isinstance(placed.word, NetworkStep)
        for effect in placed.word.effects(course.scenario)
    ]
