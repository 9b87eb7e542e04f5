"""Which scenarios a command means: files and folders, keywords and marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from harness.errors import UsageProblem
from harness.scenario import Scenario
from harness.spec import Diagnostic, InvalidScenario, load_scenario

SUFFIX = ".scenario.yaml"


def scenario_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Files as they are, folders with every `*.scenario.yaml` below them, in order.

    Raises:
        UsageProblem: a path isn't there, or a folder has no scenario.
    """
    for path in paths:
        if path.is_dir():
            found = sorted(path.rglob(f"*{SUFFIX}"))
            if not found:
                raise UsageProblem(f"there is no *{SUFFIX} below {path}")
            yield from found
        else:
            yield path


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
        if _fits("-k", keywords, [scenario.name, scenario.title], part=True)
        and _fits("-m", marks, scenario.marks, part=False)
    ]
    if not chosen:
        raise UsageProblem("no scenario is left by -k and -m", "`rocketchaos list` shows names and marks.")
    return chosen


def _fits(option: str, text: str, words: Sequence[str], *, part: bool) -> bool:
    if not text.strip():
        return True

    def has(wanted: str, /, **_unused: object) -> bool:
        if part:
            return any(wanted.lower() in word.lower() for word in words)
        return wanted in words

    from _pytest.mark.expression import Expression  # pytest takes a while to load

    try:
        return Expression.compile(text).evaluate(has)
    except SyntaxError as error:
        raise UsageProblem(f"{option} can't be read: {text!r}: {error.msg}") from error
