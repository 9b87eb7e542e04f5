"""`rocketchaos check`: judge stored runs again, without a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.commands.common import tell
from harness.commands.common_options import JsonOption, JunitOption
from harness.errors import ExitCode
from harness.reporters.folder import load_report, write_reports
from harness.store import RunFolder


def check(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    as_json: JsonOption = False,
    junit: JunitOption = None,
) -> ExitCode:
    """Judge stored histories again. The same history gives the same outcome, on any machine.

    Messages, checks, outcome and reports in the folder are written anew from the events.
    """
    reports = []
    for run in runs:
        report = load_report(run)
        RunFolder.existing(run).write_outcome(report.outcome)
        write_reports(report)
        reports.append(report)
    return tell(reports, as_json=as_json, junit=junit)
