"""Which scenarios a command means: files and folders, keywords and marks."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.plan.keywords import fits
from rocketchaos.harness.plan.library import scenario_files
from rocketchaos.harness.scenario import Diagnostic, InvalidScenario, load_scenario
from rocketchaos.harness.scenario.model import Scenario


def load_all(paths: Iterable[Path]) -> list[Scenario]:
    """Every scenario; where files are invalid, what is wrong with all of them at once.

    Raises:
        InvalidScenario: with the diagnostics of all files.
        UsageProblem: a path isn't there, or two scenarios have one name.
    """
    scenarios: list[Scenario] = []
    diagnostics: list[Diagnostic] = []
    for path in scenario_files(paths):
        try:
            scenarios.append(load_scenario(path))
        except InvalidScenario as invalid:
            diagnostics += invalid.diagnostics
    if diagnostics:
        raise InvalidScenario(tuple(diagnostics))
    _require_distinct(scenarios)
    return scenarios


def _require_distinct(scenarios: Sequence[Scenario]) -> None:
    seen: dict[str, Scenario] = {}
    for scenario in scenarios:
        other = seen.setdefault(scenario.name, scenario)
        if other is not scenario:
            raise UsageProblem(
                f"two scenarios are called {scenario.name}: {other.file} and {scenario.file}",
                "Give one of them another `name`.",
            )


def select(scenarios: Sequence[Scenario], keywords: str, marks: str) -> list[Scenario]:
    """Those whose name or title contains the keywords, and that carry the marks, as pytest's -k and -m.

    Raises:
        UsageProblem: an expression can't be read, or nothing is left.
    """
    chosen = [
        scenario
        for scenario in scenarios
        if fits("-k", keywords, [scenario.name, scenario.title], part=True)
        and fits("-m", marks, scenario.marks, part=False)
    ]
    if not chosen:
        raise UsageProblem("-k and -m leave no scenario", "`rocketchaos list --long` shows names and marks.")
    return chosen
