"""Whether the control that a scenario names exists; only a whole folder of scenarios can tell."""

from collections.abc import Collection, Iterable, Iterator

from rocketchaos.harness.core.nearest import nearest
from rocketchaos.harness.scenario.diagnostics import Diagnostic
from rocketchaos.harness.scenario.load import read_yaml
from rocketchaos.harness.scenario.model import Scenario


def check_controls(scenarios: Iterable[Scenario], known: Collection[str]) -> Iterator[Diagnostic]:
    """Every control that is not among the `known` scenarios, by name."""
    for scenario in scenarios:
        if scenario.control is not None and scenario.control not in known:
            document, _ = read_yaml(scenario.source, scenario.file)
            message = f"there is no scenario `{scenario.control}` here"
            yield document.report(("control",), message, nearest(scenario.control, known))
