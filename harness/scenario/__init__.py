"""From a YAML file to a checked `Scenario`.

    file -> load: plain data with places -> validate: the models -> references -> order, network, sense -> Scenario

All mistakes of a file are reported together, each with its place, before anything starts.
"""

from collections.abc import Iterator
from pathlib import Path

from rocketchaos.harness.scenario.diagnostics import Diagnostic, InvalidScenario, render
from rocketchaos.harness.scenario.file_text import read_text
from rocketchaos.harness.scenario.load import read_yaml
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.network_order import check_network
from rocketchaos.harness.scenario.place_models import SECTIONS
from rocketchaos.harness.scenario.property_check import check_properties
from rocketchaos.harness.scenario.references import check_references
from rocketchaos.harness.scenario.sense import check_sense
from rocketchaos.harness.scenario.step_order import check_order
from rocketchaos.harness.scenario.unreachable import impossible
from rocketchaos.harness.scenario.validate import validate
from rocketchaos.harness.scenario.word_entries import flat, understood
from rocketchaos.harness.scenario.yaml_places import Document

__all__ = ["Diagnostic", "InvalidScenario", "load_scenario", "parse_scenario", "render"]


def load_scenario(path: Path) -> Scenario:
    """The scenario in a file.

    Raises:
        InvalidScenario: it is invalid; its `diagnostics` are all mistakes with their places. UsageProblem: there
        is no such file, or it can't be read.
    """
    return parse_scenario(read_text(path), str(path))


def parse_scenario(text: str, file: str, *, reach: bool = True) -> Scenario:
    """The scenario in a text; `file` is the name under which diagnostics and reports show it.

    Numbers out of `reach` are not reported for ended runs, which are read as they were, nor for a run being
    recorded, which lacks steps.

    Raises:
        InvalidScenario: it is invalid; its `diagnostics` are all mistakes with their places.
    """
    return parse_document(text, file, reach=reach)[0]


def parse_document(text: str, file: str, *, reach: bool = True) -> tuple[Scenario, Document]:
    """As `parse_scenario`, with the data of the file."""
    document, diagnostics = read_yaml(text, file)
    scenario, mistakes = validate(document)
    diagnostics += [*mistakes, *checked(document, scenario, reach=reach)]
    if scenario is None or diagnostics:
        raise InvalidScenario(diagnostics)
    return scenario.with_source(text, file, lines_of(document)), document


def checked(document: Document, scenario: Scenario | None, *, reach: bool = True) -> Iterator[Diagnostic]:
    """The mistakes in data whose words are valid one by one; `scenario` is None if some are not."""
    undefined = list(check_references(document))
    yield from undefined
    if scenario is None:
        return
    steps, _ = understood(document, "steps")
    yield from check_order(document, scenario, steps, all_defined=not undefined)
    if not undefined:
        yield from check_network(document, scenario, steps)
        yield from check_sense(document, scenario)
        yield from check_properties(document, scenario)
        yield from impossible(document, scenario) if reach else ()


def lines_of(document: Document) -> dict[tuple[str | int, ...], int]:
    """The line of every place, a single entry in place of a list included, and of steps inside others."""
    lines = {path: document.places.of(path, key=True).line for path in document.places.values}
    for section in SECTIONS:
        if isinstance(document.data.get(section), dict):
            lines[section, 0] = lines[(section,)]
    for placed in flat(understood(document, "steps")[0]):
        lines.setdefault(("steps", *placed.indices), document.places.of(placed.path, key=True).line)
    return lines
