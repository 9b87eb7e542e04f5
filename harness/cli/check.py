"""`rocketchaos check`: judge stored runs again, without a cluster."""

from pathlib import Path
from typing import Annotated

import typer

from rocketchaos.harness.cli.common import tell
from rocketchaos.harness.cli.common_options import JsonOption, JunitOption
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.facts.folder_facts import write_facts
from rocketchaos.harness.reporting.folder import load_report, write_reports


def check(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    as_json: JsonOption = False,
    junit: JunitOption = None,
) -> ExitCode:
    """Judge stored histories again. The same history gives the same outcome, on any machine.

    It writes messages, checks, outcome, facts and reports in the folder again, from the events.
    """
    reports = []
    once: dict[Path, Path] = {}
    for run in runs:
        once.setdefault(run.resolve(), run)  # `runs/NAME/*` has the last one twice: `latest` links to it
    for run in once.values():
        report = load_report(run)
        folder = RunFolder.existing(run)
        folder.write_outcome(report.outcome)
        write_facts(folder)
        write_reports(report)
        reports.append(report)
    return tell(reports, as_json=as_json, junit=junit)
