"""Whether the steps can happen in their order.

For each consumer it tracks the possible states: exactly one as long as steps name it, several after a step on a
variable that may stand for it. A step is refused only if no state is possible, so there are no false alarms.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from rocketchaos.harness.language.cluster_needs import SLAVE_SUFFIX
from rocketchaos.harness.language.producer_spec import PRODUCER
from rocketchaos.harness.scenario.diagnostics import Diagnostic
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.word_entries import PlacedWord, flat
from rocketchaos.harness.scenario.yaml_places import Document
from rocketchaos.harness.steps import Step
from rocketchaos.harness.steps.base import STATES
from rocketchaos.harness.steps.bind import Bind
from rocketchaos.harness.steps.repeat import Repeat
from rocketchaos.harness.steps.send import Send
from rocketchaos.harness.steps.settle import Settle
from rocketchaos.harness.steps.start import Start

_NEW = "new"
_RUNNING = "running"
_ANSWERING = frozenset({_RUNNING, "stalled"})
"""A stalled process answers, but late."""
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
    others: dict[str, _Actor] = field(default_factory=dict)
    """Nodes of the cluster, and producers: they run from the beginning on, and no variable stands for them."""

    doubts: list[Diagnostic] = field(default_factory=list)
    """Steps that are possible where they stand, and hardly meant there."""
    sent: set[tuple[str, str]] = field(default_factory=set)
    """The producers and topics of earlier sends: such a producer has the topic's route."""

    def actors(self) -> dict[str, _Actor]:
        """All of them, by the names that steps have for them."""
        variables = {f"${name}": actor for name, actor in self.variables.items()}
        return {**self.consumers, **self.others, **variables}

    def moves(self, step: Step, name: str) -> tuple[tuple[str, ...], str | None] | None:
        """The states that a target must have before the step, and the states that it has after it."""
        return step.node_moves or step.moves if name in self.others else step.moves

    def line(self, placed: PlacedWord) -> int:
        return self.document.places.of(placed.path, key=True).line


def check_order(
    document: Document, scenario: Scenario, steps: list[PlacedWord], all_defined: bool
) -> Iterator[Diagnostic]:
    """Every step that is impossible where it stands.

    Undefined names are skipped. If a name is undefined, the steps' own rules are not asked.
    """
    if scenario.consumers and not any(isinstance(placed.word, Start) for placed in flat(steps)):
        groups = dict.fromkeys(consumer.group for consumer in scenario.consumers.values())
        message = (
            "no step starts a consumer: begin with `start`, or leave out `consumers`, and name the groups alone, "
            f"`groups: [{', '.join(groups)}]`"
        )
        yield document.report(("steps",), message, key=True)
        return
    yield from _in_order(_beginning(document, scenario, steps), steps, all_defined)


def doubts_of_order(
    document: Document, scenario: Scenario, steps: list[PlacedWord]
) -> tuple[Diagnostic, ...]:
    """Sends of a valid scenario that nothing can acknowledge where they stand: each is a warning."""
    course = _beginning(document, scenario, steps)
    list(_in_order(course, steps, all_defined=False))
    return tuple(dict.fromkeys(course.doubts))


def _beginning(document: Document, scenario: Scenario, steps: list[PlacedWord]) -> _Course:
    consumers = {name: _Actor(frozenset((_NEW,))) for name in scenario.consumers}
    others = {
        name: _Actor(frozenset((_RUNNING,)))
        for name in (*scenario.cluster.nodes, *scenario.senders)
        if name not in consumers
    }
    return _Course(document, scenario, steps, consumers, others=others)


def _in_order(course: _Course, steps: Iterable[PlacedWord], all_defined: bool) -> Iterator[Diagnostic]:
    for placed in steps:
        step = placed.word
        assert isinstance(step, Step)
        for problem in step.problems(course.scenario) if all_defined else ():
            yield course.document.report(placed.path, problem, key=True)
        yield from _members_started(course, placed)
        yield from _runs_needed(course, placed, step)
        yield from _sent_by_who_runs(course, placed, step)
        if isinstance(step, Settle) and step.route is not None:
            course.sent.add((PRODUCER, step.route))
        if isinstance(step, Send):
            course.doubts += _sent_to_nobody(course, placed, step)
        yield from _moved(course, placed, step)
        if isinstance(step, Repeat):
            yield from _repeated(course, placed, step.times, all_defined)
        elif placed.branches:
            yield from _at_the_same_time(course, placed, all_defined)
        for variable in step.binds():
            course.variables[variable] = _Actor(STATES, course.line(placed))


def _repeated(course: _Course, placed: PlacedWord, times: int, all_defined: bool) -> Iterator[Diagnostic]:
    """Follow it a second time too, because it begins in the state in which the first one ended. Later ones are as
    the second."""
    (steps,) = placed.branches
    first = list(_in_order(course, steps, all_defined))
    yield from first
    if times > 1:
        reported = {(entry.line, entry.column) for entry in first}
        for item in _in_order(course, steps, all_defined):
            if (item.line, item.column) not in reported:
                yield replace(item, message=f"the second time, {item.message}")


def _at_the_same_time(course: _Course, placed: PlacedWord, all_defined: bool) -> Iterator[Diagnostic]:
    """Follow each branch by itself. Targets of another branch may be in any state."""
    touched = [{name for item in flat(branch) for name in _acts_on(item)} for branch in placed.branches]
    before = {name: actor.states for name, actor in course.actors().items()}
    after: list[dict[str, frozenset[str]]] = []
    for branch, own in zip(placed.branches, touched, strict=True):
        elsewhere = {name for other in touched if other is not own for name in other}
        loose = _whoever(elsewhere, set(before))
        for name, states in before.items():
            course.actors()[name].states = states | STATES if name in loose else states
        yield from _in_order(course, branch, all_defined)
        after.append({name: actor.states for name, actor in course.actors().items()})
    for name, actor in course.actors().items():
        ends = [states for states in after if name in states]
        movers = [states for states, own in zip(after, touched, strict=True) if name in _whoever(own, {name})]
        known = movers if len(movers) == 1 and name in movers[0] else ends
        actor.states = frozenset(state for states in known for state in states[name])


def _acts_on(placed: PlacedWord) -> tuple[str, ...]:
    assert isinstance(placed.word, Step)
    return placed.word.acts_on()


def _whoever(names: set[str], everybody: set[str]) -> set[str]:
    """Those of `everybody` that the names may mean: a variable may stand for any of them, and the other way
    round."""
    if any(name.startswith("$") for name in names):
        return everybody
    return {text for text in everybody if text in names or (names and text.startswith("$"))}


def _members_started(course: _Course, placed: PlacedWord) -> Iterator[Diagnostic]:
    """Ownership, subscription and offsets of a group exist once a member has started."""
    step = placed.word
    groups: list[str | None] = []
    if isinstance(step, Settle):
        groups = [step.ownership, step.subscription, step.offsets, step.sealed, step.unstored]
    elif isinstance(step, Bind):
        groups = [selector.member_of for selector in (step.__pydantic_extra__ or {}).values()]
    for group in filter(None, groups):
        members = course.scenario.members(group)
        if members and all(course.consumers[name].states == {_NEW} for name in members):
            who = ", ".join(members)
            message = f"no member of group `{group}` ({who}) has been started before this `{step.word}`"
            yield course.document.report(placed.path, message, key=True)


def _runs_needed(course: _Course, placed: PlacedWord, step: Step) -> Iterator[Diagnostic]:
    """A consumer that is asked for its own offsets must run."""
    name = step.own_offsets if isinstance(step, Settle) else None
    actor = course.actors().get(name or "")
    if name is not None and actor is not None and not actor.states & _ANSWERING:
        path = course.document.in_file((*placed.path, "own_offsets"))
        yield course.document.report(path, _impossible(course, placed, name, actor))


def _sent_by_who_runs(course: _Course, placed: PlacedWord, step: Step) -> Iterator[Diagnostic]:
    """A producer that sends, or that is asked for its brokers, must run."""
    name = step.producer if isinstance(step, Send) else PRODUCER
    producer = course.others.get(name)
    needed = isinstance(step, Send) or (isinstance(step, Settle) and step.route is not None)
    if needed and producer is not None and not producer.states & _ANSWERING:
        who = "the producer" if name == PRODUCER else name
        message = f"`{step.word}`: {who} {_in_words(producer)}: `restart` or `resume` it before"
        yield course.document.report(placed.path, message, key=True)


def _sent_to_nobody(course: _Course, placed: PlacedWord, step: Send) -> Iterator[Diagnostic]:
    """Messages of a topic of which no broker answers, or whose route a producer can't ask for."""
    scenario, way = course.scenario, (step.producer, step.topic)
    sender = scenario.senders.get(step.producer)
    if step.topic not in scenario.topics or sender is None or step.may_fail or step.oneway:
        return
    masters = scenario.brokers_of(step.topic) if step.broker is None else (step.broker,)
    # A slave that runs may have become a master.
    brokers = [name for master in masters for name in (master, f"{master}{SLAVE_SUFFIX}")]
    known = way in course.sent or sender.needs_proxy
    asked = sender.name_servers or scenario.cluster.name_server_nodes
    course.sent.add(way)
    for names, why in (
        (brokers, "no broker has it then"),
        (() if known else asked, "nobody tells its route"),
    ):
        actors = {name: course.others[name] for name in names if name in course.others}
        if actors and not any(actor.states & _ANSWERING for actor in actors.values()):
            gone = ", ".join(f"{name} {_in_words(actor)}" for name, actor in actors.items())
            message = (
                f"{gone}, so the messages are not acknowledged: {why}. `restart` or `resume` it before, "
                "or let the send fail, `may_fail: true`"
            )
            yield course.document.report(placed.path, message, key=True)
            return


def _moved(course: _Course, placed: PlacedWord, step: Step) -> Iterator[Diagnostic]:
    for index, name in enumerate(step.acts_on()):
        actor, moves = course.actors().get(name), course.moves(step, name)
        if actor is None or moves is None:
            continue
        before, after = frozenset(moves[0]), moves[1]
        if not actor.states & before:
            path = course.document.in_file((*placed.path, *step.field_of(index)))
            yield course.document.report(path, _impossible(course, placed, name, actor))
        if after is None:
            continue
        if name not in course.others:
            _may_be_the_same(course, name, before, after)
        unchanged = actor.states == {after} and after in before
        if not unchanged:
            actor.states, actor.line = frozenset((after,)), course.line(placed)


def _may_be_the_same(course: _Course, name: str, before: frozenset[str], after: str) -> None:
    """A step on a variable may change the state of each consumer that it may stand for, and the other way
    round."""
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
    moves = course.moves(step, name)
    assert moves is not None
    why = f"{name} {_in_words(actor)}"
    if actor.states == {_NEW}:
        starts = (
            item
            for item in flat(course.steps)
            if isinstance(item.word, Start) and name in item.word.acts_on()
        )
        first = next(starts, None)
        line = f"the first `start` of {name} is in line {course.line(first)}" if first is not None else None
        where = line or "no step starts it"
        return f"`{step.word}: {name}`: {why} ({where})"
    needed = " or ".join(_ADJECTIVES.get(state, state) for state in moves[0])
    return f"`{step.word}: {name}`: {why}; it must be {needed}"


def _in_words(actor: _Actor) -> str:
    if len(actor.states) > 1:
        return "may be " + " or ".join(_ADJECTIVES.get(state, state) for state in sorted(actor.states))
    (state,) = actor.states
    words = {_NEW: "has not been started", "stopped": "was stopped in", "killed": "was killed in"}
    if actor.line is None:
        return words.get(state, "runs from the beginning on")
    return f"{words.get(state, f'is {state} since')} line {actor.line}"
