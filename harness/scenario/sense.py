"""Checks that should hold, but that nothing in this scenario can ever fulfil."""

from collections.abc import Iterable, Iterator, Mapping

from rocketchaos.assertions import Check
from rocketchaos.assertions.send_refused import SendRefused
from rocketchaos.assertions.start_refused import StartRefused
from rocketchaos.harness.core.model import SECTION_OF, TENDENCY
from rocketchaos.harness.core.nearest import clipped
from rocketchaos.harness.language.expectation import is_range, never_fitting, programs_never_meant
from rocketchaos.harness.language.words import CREATABLE_TOPIC, references
from rocketchaos.harness.scenario.diagnostics import Diagnostic
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.word_entries import PlacedWord, all_words, flat
from rocketchaos.harness.scenario.yaml_places import Document
from rocketchaos.harness.steps.observe import Observe
from rocketchaos.harness.steps.send import Send
from rocketchaos.harness.steps.start import Start

_END = "end"


def check_sense(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """Every such check of a scenario with all names defined."""
    if scenario.control == scenario.name:
        yield document.report(("control",), "a scenario can't be the control of itself")
    for name, topic in scenario.topics.items():
        if not topic.by_sending and not CREATABLE_TOPIC.fullmatch(name):
            refused = (
                "with `by_sending: true` the producer's client or the broker refuses it at the first `send`"
            )
            message = f"RocketMQ creates no topic `{clipped(name)}`: {refused}"
            yield document.report(("topics", name), message, key=True)
    for key, inner in never_fitting(scenario.expected):
        what = "versions" if is_range(key) else "clients"
        message = f"`{inner}` can never match where `{key}` does: both are about {what}"
        yield document.report(("expected", key, inner), message, key=True)
    for path in programs_never_meant(scenario.expected, scenario.own_client_label):
        message = (
            f"`{path[-1]}` can never match: the clients of this scenario are `{scenario.own_client_label}`"
        )
        yield document.report(("expected", *path), message, key=True)
    words = all_words(document)
    steps, _ = words["steps"]
    moments = _moments(steps)
    # Of the other section nobody expects that it holds: a control shares it with its anomaly.
    expected = {"also", TENDENCY, *(SECTION_OF[kind] for kind in scenario.expected_kinds)}
    for section, (checks, _) in words.items():
        for placed in checks if section != "steps" else ():
            assert isinstance(placed.word, Check)
            yield from _intervals(document, placed, placed.word, moments)
            for problem in _problems(scenario, placed.word, steps) if section in expected else ():
                yield document.report(placed.path, problem, key=True)


def _problems(scenario: Scenario, check: Check, steps: Iterable[PlacedWord]) -> Iterator[str]:
    """Why nothing can ever fulfil the check."""
    yield from check.problems(scenario)
    if isinstance(check, SendRefused) and check.asks_for_some and not _may_fail(steps, check.topic):
        yield f"no `send` to {check.topic} has `may_fail: true`: a refusal would end the run"
    if isinstance(check, StartRefused) and check.producer is not None:
        if not scenario.senders[check.producer].may_be_refused:
            yield f"{check.producer} has no `may_be_refused: true`: a refusal would end the run"
    elif isinstance(check, StartRefused) and not _may_be_refused(steps, str(check.consumer)):
        yield f"no `start` of {check.consumer} has `may_be_refused: true`: a refusal would end the run"


def _moments(steps: Iterable[PlacedWord]) -> dict[str, int]:
    """Observations that are made once, each with the number of the step that makes it."""
    return {placed.word.name: placed.indices[0] for placed in steps if isinstance(placed.word, Observe)}


def _intervals(
    document: Document, placed: PlacedWord, check: Check, moments: Mapping[str, int]
) -> Iterator[Diagnostic]:
    """Checks between two observations in the wrong order."""
    order = {**moments, _END: max(moments.values(), default=0) + 1}
    for reference in references(check):
        if "moment" not in reference.kinds or reference.path == ("at",):
            continue
        begin, end = reference.text, check.at
        known = begin in order and end in order
        if begin == end or (known and order[begin] > order[end]):
            path = document.in_file((*placed.path, *reference.path))
            message = f"the observation `{begin}` is not before `{end}`, at which the check reads"
            yield document.report(path, message)


def _may_fail(steps: Iterable[PlacedWord], topic: str) -> bool:
    sends = (placed.word for placed in flat(steps) if isinstance(placed.word, Send))
    return any(send.may_fail and send.topic == topic for send in sends)


def _may_be_refused(steps: Iterable[PlacedWord], consumer: str) -> bool:
    starts = (placed.word for placed in flat(steps) if isinstance(placed.word, Start))
    names = {name for step in starts if step.may_be_refused for name in step.consumers}
    return bool(names) and (consumer in names or any(name.startswith("$") for name in (consumer, *names)))
