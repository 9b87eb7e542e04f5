"""Statements that no run of a scenario can keep, or that every run keeps, by its own numbers."""

from collections.abc import Collection, Iterator

from rocketchaos.assertions import Check
from rocketchaos.assertions.limits import LEAST, MOST
from rocketchaos.harness.core.model import SECTION_OF, TENDENCY
from rocketchaos.harness.scenario.causes import hardly_caused, without_cause
from rocketchaos.harness.scenario.contrast import both_can_hold, contradictions, one_holds_with_the_other
from rocketchaos.harness.scenario.diagnostics import Diagnostic
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.slips import slips
from rocketchaos.harness.scenario.step_order import doubts_of_order
from rocketchaos.harness.scenario.word_entries import all_words, flat
from rocketchaos.harness.scenario.yaml_places import Document
from rocketchaos.harness.steps import Step


def impossible(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """Statements that can't be meant: a check that should hold and never can, an outcome that can never be."""
    if scenario.most_sent():
        yield from _unreachable(document, scenario, {"steps", "also", TENDENCY, *_expected(scenario)})
    yield from one_holds_with_the_other(document, scenario, exact=True)
    yield from contradictions(document, scenario, exact=True)


def doubtful(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """Statements that are possible, and probably slips: each is a warning. So are numbers if nothing is sent at
    all, or not yet.

    An unreachable number in an `anomaly` that is not expected is no problem: a control shares the list with its
    scenario.
    """
    sections = {"healthy"} - _expected(scenario)
    if not scenario.most_sent():
        sections |= {"steps", "also", TENDENCY, *_expected(scenario)}
    yield from _unreachable(document, scenario, sections)
    words = all_words(document)
    for placed in flat(word for section, _ in words.values() for word in section):
        if isinstance(placed.word, Check | Step):
            always = _always(placed.word) if isinstance(placed.word, Check) else ()
            for doubt in (*placed.word.doubts(scenario), *always):
                yield document.report(placed.path, doubt, key=True)
    for section in ("steps", "also", TENDENCY, *_expected(scenario)):
        for placed in flat(words[section][0]):
            assert isinstance(placed.word, Check | Step)
            for doubt in hardly_caused(scenario, placed.word):
                yield document.report(placed.path, doubt, key=True)
    yield from one_holds_with_the_other(document, scenario, exact=False)
    yield from contradictions(document, scenario, exact=False)
    yield from both_can_hold(document, scenario)
    yield from slips(document, scenario)
    yield from doubts_of_order(document, scenario, words["steps"][0])


def _always(check: Check) -> Iterator[str]:
    """Limits that nothing can fall below, or rise above."""
    for name, field in type(check).model_fields.items():
        value = getattr(check, name)
        lowest = next((mark.ge for mark in field.metadata if hasattr(mark, "ge")), 0)
        highest = next((mark.le for mark in field.metadata if hasattr(mark, "le")), None)
        ends = (name.endswith(LEAST) and value == lowest) or (name.endswith(MOST) and value == highest)
        if value is not None and ends:
            yield f"`{name}` of {value:g} holds whatever comes"


def _expected(scenario: Scenario) -> set[str]:
    return {SECTION_OF[kind] for kind in scenario.expected_kinds}


def _unreachable(document: Document, scenario: Scenario, sections: Collection[str]) -> Iterator[Diagnostic]:
    """The numbers in these sections that no run can reach, and the checks whose cause is in no step."""
    steps = all_words(document)["steps"][0]
    for section, (words, _) in all_words(document).items():
        for placed in flat(words) if section in sections else ():
            assert isinstance(placed.word, Check | Step)
            cause = without_cause(placed.word, steps) if isinstance(placed.word, Check) else ()
            for reason in (*placed.word.unreachable(scenario), *cause):
                yield document.report(placed.path, reason, key=True)
