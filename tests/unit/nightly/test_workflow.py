"""The workflow for GitHub Actions says what the command line understands."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import typer
import yaml

from rocketchaos.harness.cli.main import application
from rocketchaos.harness.nightly.pace import read_history

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
    assert context.params["history"] == Path("history/nightly-status.json")


def test_what_it_knows_before_the_first_night_is_understood(tmp_path: Path) -> None:
    steps = yaml.safe_load(FILE.read_text())["jobs"]["chaos"]["steps"]
    (line,) = [step["run"] for step in steps if "test -f history/" in step.get("run", "")]
    subprocess.run(["bash", "-c", line], cwd=tmp_path, check=True)
    assert read_history(tmp_path / "history" / "nightly-status.json") == {}


def test_its_reports_are_understood() -> None:
    steps = yaml.safe_load(FILE.read_text())["jobs"]["reports"]["steps"]
    (line,) = [found for step in steps for found in re.findall(r"rocketchaos ([^;]*)", step.get("run", ""))]
    words = shlex.split(line)
    command: Any = typer.main.get_command(application())
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
        command = getattr(command, "loaded", command)
    said = command.make_context(command.name, words).params
    assert (str(said["store"]), said["runs"]) == ("store", ["nights"])
