"""`rocketchaos list`: which scenarios there are."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from harness.commands.common_options import JsonOption
from harness.commands.terminal import OUT
from harness.errors import ExitCode
from harness.expected import expected_text
from harness.library import shipped
from harness.model import SCHEMA_VERSION
from harness.selection import load_all


def list_scenarios(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH...]", help="Files or folders; those that come with rocketchaos unless given."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """List scenarios: name, what is to be seen, expected outcome, marks."""
    scenarios = load_all(paths or sorted(shipped().values()))
    if as_json:
        document = {
            "schema_version": SCHEMA_VERSION,
            "scenarios": [
                {
                    "name": scenario.name,
                    "title": scenario.title,
                    "expected": scenario.expected,
                    "control": scenario.control,
                    "timing": scenario.timing,
                    "marks": list(scenario.marks),
                    "file": scenario.file,
                }
                for scenario in scenarios
            ],
        }
        json.dump(document, sys.stdout, indent=2, ensure_ascii=False)
        sys.stdout.write("\n")
        return ExitCode.AS_EXPECTED
    for scenario in scenarios:
        control = [f"control: {scenario.control}"] if scenario.control else []
        facts = ", ".join(
            [f"expected: {expected_text(scenario.expected)}", *control, scenario.timing, *scenario.marks]
        )
        OUT.print(f"[bold]{escape(scenario.name)}[/bold]  ({escape(facts)})")
        OUT.print(f"    {scenario.title}", markup=False)
    return ExitCode.AS_EXPECTED
