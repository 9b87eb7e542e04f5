"""Hints about valid words that are probably slips.

So far there is one: messages are sent while the members of a group still race for the subscription that the broker
holds for all of them. There is no hint if that race is the subject, if it doesn't matter, or if it never ends.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from rocketchaos.harness.language.expressions import Expression, SqlExpression, text_of
from rocketchaos.harness.language.fault_effects import ENDS
from rocketchaos.harness.language.tags import client_matches, tags_of
from rocketchaos.harness.language.words import of_a_variable
from rocketchaos.harness.scenario.diagnostics import Diagnostic
from rocketchaos.harness.scenario.load import read_yaml
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.word_entries import flat, understood
from rocketchaos.harness.steps import Step
from rocketchaos.harness.steps.send import Send
from rocketchaos.harness.steps.settle import Settle
from rocketchaos.harness.steps.start import Start

if TYPE_CHECKING:
    # By their words at run time: a file loads the words that it uses, and no others.
    from rocketchaos.harness.steps.heartbeat import Heartbeat
    from rocketchaos.harness.steps.subscribe import Subscribe
    from rocketchaos.harness.steps.unsubscribe import Unsubscribe

Indices = tuple[int, ...]
"""Where a step is, as `harness.steps.step_place.Place` has it."""


@dataclass(slots=True)
class _Course:
    """What is known between two steps."""

    scenario: Scenario
    running: dict[str, dict[str, Expression]] = field(default_factory=dict)
    """The subscriptions, by consumer."""
    settled: set[tuple[str, str]] = field(default_factory=set)
    """Groups and topics without further hints: a step has waited for what the broker holds."""
    unsure: set[str] = field(default_factory=set)
    """Groups with unknown running members, or with other members than the scenario's."""


def hints(scenario: Scenario) -> tuple[Diagnostic, ...]:
    """The hints for a valid scenario."""
    races = [] if _is_about_the_race(scenario) else list(_races(_Course(scenario), scenario.steps, ()))
    if not races:
        return ()
    document, _ = read_yaml(scenario.source, scenario.file)
    paths = {placed.indices: placed.path for placed in flat(understood(document, "steps")[0])}
    return tuple(document.report(paths[indices], f"hint: {message}", key=True) for indices, message in races)


def _is_about_the_race(scenario: Scenario) -> bool:
    """Whether no check expects anything, or the scenario counts how the race ends."""
    return not scenario.expected_kinds or any(
        check.word == "outcome-distribution" for _, _, check in scenario.checks()
    )


def _races(course: _Course, steps: Iterable[Step], around: Indices) -> Iterator[tuple[Indices, str]]:
    """The sends into a race, in order: the first one for each group and topic."""
    for index, step in enumerate(steps):
        place = (*around, index)
        if isinstance(step, Send):
            yield from ((place, message) for message in _sent(course, step))
        elif isinstance(step, Settle) and step.subscription is not None and step.topic is not None:
            course.settled.add((step.subscription, step.topic))
        elif step.word == "heartbeat":
            group = cast("Heartbeat", step).group
            course.unsure.update(course.scenario.groups if group is None else (group,))
        else:
            _moved(course, step)
        for number, branch in enumerate(step.inner()):
            yield from _races(course, branch, (*place, number))


def _moved(course: _Course, step: Step) -> None:
    """Follow who runs, and who subscribes to what."""
    for name in step.acts_on():
        consumer = course.scenario.consumers.get(name)
        if consumer is None:  # a node, or whoever a variable stands for
            course.unsure.update(course.scenario.groups if name.startswith("$") else ())
        elif isinstance(step, Start) and not step.may_be_refused:
            course.running[name] = dict(consumer.subscribe)
        elif step.word in ENDS:
            course.running.pop(name, None)
        elif step.word == "subscribe" and name in course.running:
            subscribe = cast("Subscribe", step)
            course.running[name][subscribe.topic] = subscribe.expression
        elif step.word == "unsubscribe" and name in course.running:
            course.running[name].pop(cast("Unsubscribe", step).topic, None)
        else:
            course.unsure.add(consumer.group)


def _sent(course: _Course, send: Send) -> Iterator[str]:
    topic, tags = send.topic, send.tags or (send.tag,)
    for group in course.scenario.groups:
        if group in course.unsure or (group, topic) in course.settled:
            continue
        members = [name for name in course.scenario.members(group) if name in course.running]
        if _race_for(course, members, topic) and not _agreed(course, members, topic, tags):
            course.settled.add((group, topic))
            text = ", ".join(f"{name} {text_of(course.running[name][topic])!r}" for name in members)
            yield (
                f"the subscription that the broker holds for group {group} is still a race here, because its "
                f"members subscribe differently ({text}): write "
                f"`- settle: {{subscription: {group}, topic: {topic}, within: 60s}}` before it"
            )


def _race_for(course: _Course, members: list[str], topic: str) -> bool:
    """Whether these members bring different subscriptions for the topic, and one of them is filtered by that.

    Where their topics differ, the stored subscription never settles: each heartbeat removes the others' topics.
    """
    consumers = [course.scenario.consumers[name] for name in members]
    running = [course.running[name] for name in members]
    if any(set(own) != set(running[0]) for own in running) or topic not in (running or [{}])[0]:
        return False
    differ = len({_meaning(own[topic]) for own in running}) > 1
    by_stored = any(consumer.traits.filters_by == "stored" for consumer in consumers)
    # Those raise their subVersion whose queues change: these never do, and the last one to start prevails.
    changing = any(consumer.strategy != "by-config" for consumer in consumers)
    return differ and by_stored and changing


def _agreed(course: _Course, members: list[str], topic: str, tags: Sequence[str | None]) -> bool:
    """Whether all of these members want the tags, or none of them does: then it doesn't matter whose is stored."""
    own = [course.running[name][topic] for name in members]
    if any(isinstance(item, SqlExpression) for item in own) or any(of_a_variable(tag or "") for tag in tags):
        return False
    return all(len({client_matches(item, tag) for item in own}) == 1 for tag in tags)


def _meaning(expression: Expression) -> object:
    return text_of(expression) if isinstance(expression, SqlExpression) else tags_of(expression) or expression
