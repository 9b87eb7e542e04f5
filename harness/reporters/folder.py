"""Reports in a run folder, and a report from one."""

from __future__ import annotations

from pathlib import Path

from assertions.judge import judge
from harness.reporters.base import Report
from harness.reporters.html import HtmlReporter
from harness.reporters.start_here import StartHereReporter
from harness.spec import parse_scenario
from harness.store import RunFolder


def write_reports(report: Report) -> None:
    """Write `START-HERE.md` and `report.html`.

    Raises:
        EnvironmentNotReady: they can't be written.
    """
    StartHereReporter().report([report])
    HtmlReporter().report([report])


def load_report(path: Path) -> Report:
    """The report of a run folder alone; its outcome is judged anew from the history.

    Raises:
        UsageProblem: it is no run folder, or its scenario can't be read.
    """
    folder = RunFolder.existing(path)
    record = folder.read_json("run.json")
    file = str(record.get("scenario_file") or folder.scenario_path.name)
    scenario = parse_scenario(folder.scenario_path.read_text(encoding="utf-8"), file, reach=False)
    history = folder.read_events()
    return Report(
        scenario=scenario,
        outcome=judge(scenario, history.events, history.damage),
        events=history.events,
        record=record,
        folder=folder.path,
    )
