"""Names that a scenario defines and never uses: a warning each, for the rest of it is probably missing."""

import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from rocketchaos.harness.language.words import references
from rocketchaos.harness.scenario.diagnostics import Diagnostic
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.word_entries import PlacedWord, all_words, flat
from rocketchaos.harness.scenario.yaml_places import Document
from rocketchaos.harness.steps import Step
from rocketchaos.harness.steps.start import Start

if TYPE_CHECKING:  # a file loads the words that it uses, and no others
    from rocketchaos.harness.steps.mqadmin import Mqadmin

_READS = re.compile(
    r"query.*|print.*|get.*Config|.*(Status|Progress|List|Stats|Info|Connection|Route|Names)", re.I
)
"""Commands of mqadmin that change nothing: only their output can be meant."""


def unused(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """The consumers that no step starts, the topics that nothing uses, the answers that no check reads.

    The answer of an `ask` is left out: its request may be one that changes something.
    """
    words = [placed for section, _ in all_words(document).values() for placed in flat(section)]
    yield from _never_started(document, scenario, words)
    yield from _unused_topics(document, scenario, words)
    yield from _unread_answers(document, words)


def _never_started(document: Document, scenario: Scenario, words: list[PlacedWord]) -> Iterator[Diagnostic]:
    started = {name for placed in words if isinstance(placed.word, Start) for name in placed.word.consumers}
    if any(name.startswith("$") for name in started):
        return
    for name in scenario.consumers:
        if name not in started:
            yield document.report(
                ("consumers", name), f"no step starts {name}: write `- start: {name}`", key=True
            )


def _unused_topics(document: Document, scenario: Scenario, words: list[PlacedWord]) -> Iterator[Diagnostic]:
    if scenario.has_programs or "control" in scenario.marks:
        return  # Nothing shows which topics programs use; a control keeps those of its scenario.
    used = {topic for consumer in scenario.consumers.values() for topic in consumer.subscribe}
    texts = [placed.word.model_dump_json(by_alias=True) for placed in words]
    for name in scenario.topics:
        if name not in used and not any(name in text for text in texts):
            yield document.report(
                ("topics", name), f"nothing subscribes to {name}, and no step uses it", key=True
            )


def _unread_answers(document: Document, words: list[PlacedWord]) -> Iterator[Diagnostic]:
    read = {
        (kind, reference.text)
        for placed in words
        for reference in references(placed.word)
        for kind in reference.kinds
    }
    for placed in words:
        step = placed.word
        for kind, name in step.defines() if isinstance(step, Step) else ():
            if (kind, name) not in read and _is_to_be_read(step, kind):
                message = f"no check reads `{name}`: write one, `{kind}: {{of: {name}, …}}`"
                yield document.report(placed.path, message, key=True)


def _is_to_be_read(step: object, kind: str) -> bool:
    """Whether it has no other purpose than its answer."""
    if kind == "mqadmin":
        return _READS.fullmatch(shlex.split(cast("Mqadmin", step).command)[0]) is not None
    return kind == "pull"
