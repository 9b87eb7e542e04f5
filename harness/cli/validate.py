"""`rocketchaos validate`: is a scenario right?"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rocketchaos.harness.cli.terminal import ERR, OUT
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.plan.feasibility import why_nowhere, why_on_no_version
from rocketchaos.harness.plan.library import find, shipped
from rocketchaos.harness.plan.selection import load_all
from rocketchaos.harness.scenario import InvalidScenario
from rocketchaos.harness.scenario.control_exists import check_controls
from rocketchaos.harness.scenario.diagnostics import Diagnostic, render
from rocketchaos.harness.scenario.hints import hints
from rocketchaos.harness.scenario.load import read_yaml
from rocketchaos.harness.scenario.missing_files import missing_files
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.unreachable import doubtful
from rocketchaos.harness.scenario.unused import unused


def _nowhere(scenarios: Iterable[Scenario]) -> Iterator[Diagnostic]:
    for scenario in scenarios:
        if reason := why_nowhere(scenario):
            document, _ = read_yaml(scenario.source, scenario.file)
            yield document.report(document.in_file(("cluster",)) or ("name",), reason)
        elif found := why_on_no_version(scenario):
            document, _ = read_yaml(scenario.source, scenario.file)
            reason, place = found
            path = place if place[0] in document.data else ("name",)
            yield document.report(path, reason, key=path[0] != "name")


def _doubts(scenarios: Iterable[Scenario]) -> Iterator[Diagnostic]:
    for scenario in scenarios:
        document, _ = read_yaml(scenario.source, scenario.file)
        for doubt in (
            *doubtful(document, scenario),
            *unused(document, scenario),
            *missing_files(document, scenario),
        ):
            yield replace(doubt, message=f"warning: {doubt.message}")


_SHOWN = 10
"""The number of scenarios that are named."""


def validate(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="Scenario files, folders of `*.scenario.yaml`, or names of scenarios that come with it.",
        ),
    ],
) -> ExitCode:
    """Report all mistakes in scenarios, and warn of likely slips. It starts nothing."""
    scenarios = load_all([find(str(path)) for path in paths])
    unknown = tuple(check_controls(scenarios, {*shipped(), *(scenario.name for scenario in scenarios)}))
    if unknown and any(path.is_dir() for path in paths):
        raise InvalidScenario(unknown)
    if nowhere := tuple(_nowhere(scenarios)):
        raise InvalidScenario(nowhere)
    # A single file may have its control anywhere.
    remarks = [replace(each, message=f"warning: {each.message}") for each in unknown]
    remarks += [*_doubts(scenarios), *(hint for scenario in scenarios for hint in hints(scenario))]
    if text := render(remarks):
        ERR.print(text)
    shown = ", ".join(scenario.name for scenario in scenarios[:_SHOWN])
    more = f" and {len(scenarios) - _SHOWN} more" if len(scenarios) > _SHOWN else ""
    OUT.print(f"{len(scenarios)} valid: {shown}{more}")
    return ExitCode.AS_EXPECTED
