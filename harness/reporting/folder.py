"""Reports in a run folder, and a report from one."""

from pathlib import Path

from rocketchaos.assertions.judge import judge
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.html import HtmlReporter
from rocketchaos.harness.reporting.start_here import StartHereReporter
from rocketchaos.harness.scenario import parse_scenario


def write_reports(report: Report) -> None:
    """Write `START-HERE.md` and `report.html`.

    Raises:
        EnvironmentNotReady: they can't be written.
    """
    StartHereReporter().report([report])
    HtmlReporter().report([report])


def load_report(path: Path) -> Report:
    """The report of a run folder alone; its outcome is judged again from the history.

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
