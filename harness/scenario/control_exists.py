"""Whether the control that a scenario names exists; only a whole folder of scenarios can tell."""

from collections.abc import Collection, Iterable, Iterator

from rocketchaos.harness.core.nearest import nearest
from rocketchaos.harness.scenario.diagnostics import Diagnostic
from rocketchaos.harness.scenario.load import read_yaml
from rocketchaos.harness.scenario.model import Scenario

_ALIKE = 0.8
"""The name of a control that doesn't exist yet is like some name of the library: a typing mistake is more so."""


def check_controls(scenarios: Iterable[Scenario], known: Collection[str]) -> Iterator[Diagnostic]:
    """Every control that is not among the `known` scenarios, by name."""
    for scenario in scenarios:
        if scenario.control is not None and scenario.control not in known:
            document, _ = read_yaml(scenario.source, scenario.file)
            message = f"there is no scenario `{scenario.control}` here"
            others = {name for name in known if name != scenario.name}
            near = nearest(scenario.control, others, alike=_ALIKE) if len(others) > 1 else None
            yield document.report(("control",), message, near)
