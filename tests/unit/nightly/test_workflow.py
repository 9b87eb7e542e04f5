"""The workflow for GitHub Actions says what the command line understands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import typer
import yaml

from harness.cli import application

FILE = Path(__file__).parents[3] / ".github" / "workflows" / "nightly.yaml"


def test_its_command_is_understood() -> None:
    steps = yaml.safe_load(FILE.read_text())["jobs"]["chaos"]["steps"]
    (line,) = [step["run"] for step in steps if step.get("run", "").startswith("rocketchaos ")]
    values = {"SEED": "7", "matrix.shard": "2/2", "matrix.rocketmq": "4.9.4"}
    line = re.sub(r"\$\{\{ *([\w.]+) *\}\}|\$(\w+)", lambda found: values[found[1] or found[2]], line)
    _, name, *words = shlex.split(line)
    command = typer.main.get_command(application())
    context = command.commands[name].make_context(name, words)  # type: ignore[attr-defined]
    assert context.params["shard"] == "2/2"
    assert context.params["junit"] == Path("nightly.xml")
    assert context.params["known"] == Path(".github/known-findings.txt")
