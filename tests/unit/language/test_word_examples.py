"""Every word of the language has an example, and every example is right: each stands in a scenario here."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

import pytest
import yaml

from rocketchaos.assertions import CHECKS
from rocketchaos.harness.language.words import Word
from rocketchaos.harness.reference.language import language_reference
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps import STEPS, Step
from tests.unit.editor_schema import mistakes

WORDS = {
    **{f"step {word}": model for word, model in STEPS.items()},
    **{f"check {word}": model for word, model in CHECKS.items()},
}
HEAD = """\
name: example
title: an example
workers: containers
cluster: {dashboard: true}
topics:
  orders: {queues: 4}
  bills: {queues: 4}
groups: h
consumers:
  a: {group: g, subscribe: {orders: tagA}, behaviour: {block: [orders-1], reply: true}}
  b: {group: g, subscribe: {orders: tagB}, behaviour: {block: [orders-1]}}
  puller: {group: p, api: pull, subscribe: {orders: '*'}}
steps:
"""
TAIL = """\
anomaly:
{check}
healthy:
  - delivered: {{to: g, count: 8}}
"""
BIND = "bind: {holder: {member-of: g, whose-subscription-is-stored-for: orders}}"
LEADING_TO: Mapping[str, list[str]] = {
    "new": [],
    "running": ["start: [a, b]", BIND],
    "paused": ["start: [a, b]", BIND, "pause: [a, b]"],
    "stopped": ["start: [a, b]", BIND, "stop: [a, b]"],
    "killed": ["start: [a, b]", BIND, "kill: [a, b]"],
}
"""The steps after which consumers are in a state."""
BEFORE: Mapping[str, list[str]] = {
    "lose-files": ["start: [a, b]", "kill: broker-a"],
    "repeat": [],
    "recall": ["start: [a, b]", "send: {topic: orders, count: 1, delay: 5s}"],
    "heal": ["start: [a, b]", "partition: {between: b, and: broker-a}"],
}
"""What must come before an example whose own steps start consumers."""
BEFORE_CHECKS: Mapping[str, list[str]] = {
    "send-refused": ["send: {topic: orders, count: 8, may_fail: true}"],
    "transaction-checked": ["send: {topic: orders, count: 1, transaction: {state: unknown}}"],
    "replied": ["send: {topic: orders, count: 4, request: 3s}"],
    "recall-refused": [
        "send: {topic: orders, count: 1, delay: 5s}",
        "recall: {messages: orders-1, may_be_refused: true}",
    ],
    "subscribe-refused": [
        "subscribe: {consumer: a, topic: orders, expression: '||', may_be_refused: true}",
    ],
    "seek-refused": ["seek: {consumer: a, topic: orders, to: begin, may_be_refused: true}"],
}
"""What a check needs besides."""
FOR_CHECKS = [
    "start: {consumers: [a, b], may_be_refused: true}",
    "observe: before",
    BIND,
    STEPS["pull"].example,
    STEPS["heartbeat"].example,
    STEPS["ask"].example,
    STEPS["mqadmin"].example,
    STEPS["client-pull"].example,
]
"""Checks ask for observations, and for what these steps did."""


def entry(text: str) -> str:
    """As an entry of a list."""
    return "  - " + textwrap.indent(text.strip(), "    ").strip() + "\n"


def steps_before(model: type[Word]) -> list[str]:
    if not issubclass(model, Step):
        return [*FOR_CHECKS, *BEFORE_CHECKS.get(model.word, ())]
    if model.word in BEFORE:
        return BEFORE[model.word]
    return LEADING_TO[model.moves[0][0] if model.moves is not None else "running"]


def scenario_with(model: type[Word]) -> Scenario:
    """A scenario with the word's example in it."""
    is_step = issubclass(model, Step)
    steps = [*steps_before(model), *([model.example] if is_step else [])]
    check = "delivered: {to: a, count: 1}" if is_step else model.example
    # A scenario without any `start` is refused.
    steps += [] if any("start" in step for step in steps) else ["start: [a, b]"]
    text = HEAD + "".join(map(entry, steps)) + TAIL.format(check=entry(check).rstrip())
    assert mistakes(text) == []
    return parse_scenario(text, f"{model.word}.yaml")


@pytest.mark.parametrize("model", WORDS.values(), ids=list(WORDS))
def test_every_word_has_an_example_that_is_valid(model: type[Word]) -> None:
    assert vars(model).get("example"), f"give {model.__name__} an `example`: the word in use, as YAML"
    assert list(yaml.safe_load(model.example)) == [model.word]
    scenario = scenario_with(model)
    words = scenario.steps if issubclass(model, Step) else scenario.anomaly
    assert any(type(word) is model for word in words)


@pytest.mark.parametrize("model", WORDS.values(), ids=list(WORDS))
def test_the_reference_shows_it(model: type[Word]) -> None:
    assert f"```yaml\n{model.example.strip()}\n```" in language_reference()
