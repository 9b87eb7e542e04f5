"""The corpus of broken files: each with what a user is shown, to the letter.

After a change that is meant: `pytest tests/unit/scenario/test_broken.py`, read the difference, then write the
new text into the `.txt` beside the file.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario, render

BROKEN = sorted(Path(__file__).with_name("broken").glob("*.yaml"))


@pytest.mark.parametrize("file", BROKEN, ids=lambda file: file.stem)
def test_says_what_is_wrong(file: Path) -> None:
    expected = file.with_suffix(".txt").read_text("utf-8")
    with pytest.raises(InvalidScenario) as refused:
        parse_scenario(file.read_bytes().decode("utf-8"), file.name)
    assert f"{render(refused.value.diagnostics)}\n" == expected


def test_every_file_has_its_text_and_every_text_its_file() -> None:
    texts = {file.stem for file in Path(__file__).with_name("broken").glob("*.txt")}
    assert texts == {file.stem for file in BROKEN}
    assert len(BROKEN) >= 35


def test_an_invalid_scenario_is_a_usage_problem_with_all_diagnostics() -> None:
    with pytest.raises(UsageProblem) as refused:
        parse_scenario("name: X\ntitel: x\n", "x.yaml")
    error = refused.value
    assert isinstance(error, InvalidScenario)
    assert error.exit_code is ExitCode.USAGE
    assert [(diagnostic.line, diagnostic.column) for diagnostic in error.diagnostics] == sorted(
        (diagnostic.line, diagnostic.column) for diagnostic in error.diagnostics
    )
    first = next(diagnostic for diagnostic in error.diagnostics if diagnostic.line == 2)
    assert (first.file, first.column, first.length, first.suggestion) == ("x.yaml", 1, 5, "title")
    assert first.source_line == "titel: x"


def test_color_changes_nothing_but_the_color() -> None:
    with pytest.raises(InvalidScenario) as refused:
        parse_scenario("name: [\n", "x.yaml")
    colored = render(refused.value.diagnostics, color=True)
    assert "\x1b[31m^" in colored
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m"):
        colored = colored.replace(code, "")
    assert colored == str(refused.value)
