"""`rocketchaos validate`: is a scenario right?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.commands.common import OUT
from harness.errors import ExitCode
from harness.selection import load_all


def validate(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Scenario files, or folders of `*.scenario.yaml`.")
    ],
) -> ExitCode:
    """Say what is wrong with scenarios, all at once. Nothing is started."""
    scenarios = load_all(paths)
    OUT.print(f"{len(scenarios)} valid: {', '.join(scenario.name for scenario in scenarios)}", markup=False)
    return ExitCode.AS_EXPECTED
