"""`rocketchaos validate`: is a scenario right?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.commands.common import OUT
from harness.errors import ExitCode
from harness.library import shipped
from harness.selection import load_all
from harness.spec import InvalidScenario
from harness.spec.controls import check_controls


def validate(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Scenario files, or folders of `*.scenario.yaml`.")
    ],
) -> ExitCode:
    """Say what is wrong with scenarios, all at once. Nothing is started."""
    scenarios = load_all(paths)
    # A single file may have its control anywhere.
    if any(path.is_dir() for path in paths):
        known = {*shipped(), *(scenario.name for scenario in scenarios)}
        if unknown := tuple(check_controls(scenarios, known)):
            raise InvalidScenario(unknown)
    OUT.print(f"{len(scenarios)} valid: {', '.join(scenario.name for scenario in scenarios)}", markup=False)
    return ExitCode.AS_EXPECTED
