"""The commands of `make demo-report` are understood, and its scenarios are there. Nothing is run."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer

from rocketchaos.harness.cli.main import application

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def recipe() -> str:
    """What `make` would do, each command in one line."""
    asked = ["make", "-n", "-o", ".venv/.reports", "demo-report", "REPEAT=2"]
    shown = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    return shown.stdout.replace("\\\n", " ")


def understood(line: str) -> tuple[str, dict[str, Any]]:
    """The command of a line, and its parameters."""
    words = shlex.split(line)
    command: Any = typer.main.get_command(application())
    names = []
    while words and words[0] in getattr(command, "commands", {}):
        names.append(words.pop(0))
        command = command.commands[names[-1]]
        command = getattr(command, "loaded", command)
    return " ".join(names), command.make_context(names[-1], words).params


def test_its_runs_are_understood(recipe: str) -> None:
    (line,) = re.findall(r"rocketchaos (run [^>]*)>", recipe)
    name, said = understood(line)
    assert (name, said["repeat"]) == ("run", 2)
    scenarios = [word for word in shlex.split(line) if word.endswith(".scenario.yaml")]
    assert len(scenarios) >= 4
    assert all((ROOT / scenario).is_file() for scenario in scenarios)


def test_its_reports_are_made_from_its_runs(recipe: str) -> None:
    (ran,) = re.findall(r"rocketchaos (run [^>]*)>", recipe)
    (reported,) = re.findall(r"rocketchaos (report [^;\n]*)", recipe)
    name, said = understood(reported)
    assert name == "report all"
    assert said["runs"] == [str(understood(ran)[1]["runs"])]
