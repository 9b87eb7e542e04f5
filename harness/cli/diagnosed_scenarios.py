"""`diagnose --write-scenario`: writes scenario files that reproduce findings."""

from pathlib import Path

from rocketchaos.harness.cli.terminal import ERR
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.whole_file import write_whole
from rocketchaos.harness.diagnose.diagnosis import Report
from rocketchaos.harness.diagnose.reproduction import Document, why_not, written
from rocketchaos.harness.nightly.document import text_of
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario


def write_scenarios(report: Report, folder: Path) -> None:
    """Write one for each finding that can be done again, with its control; say of the others why not.

    Raises:
        EnvironmentNotReady: they can't be written.
    """
    names: set[str] = set()
    known: list[tuple[Document, Path]] = []
    for finding in report.findings:
        view = report.views.get(finding.group)
        documents = why_not(finding.check.code) if view is None else written(view, finding)
        if isinstance(documents, str):
            ERR.print(f"no scenario of {finding.check.code} ({finding.resource}): {documents}")
            continue
        scenario, control = documents
        if (same := next((path for document, path in known if document == scenario), None)) is not None:
            ERR.print(f"{finding.check.code} ({finding.resource}): {same} reproduces that as well")
            continue
        as_written = scenario
        number = 1
        base = scenario["name"]
        while scenario["name"] in names:
            number += 1
            scenario = {**scenario, "name": f"{base}-{number}", "control": f"{base}-{number}-control"}
            control = {**control, "name": f"{base}-{number}-control"}
        if (why := _invalid(scenario, control)) is not None:
            ERR.print(f"no scenario of {finding.check.code} ({finding.resource}): {why}")
            continue
        names.add(scenario["name"])
        path = _write(folder, scenario)
        known.append((as_written, path))
        _write(folder, control)
        ERR.print(f"{finding.check.code}: `rocketchaos reproduce {path}` reproduces it")


def _invalid(*documents: Document) -> str | None:
    """Why one of them is no valid scenario, in one line; None if all are valid."""
    for document in documents:
        try:
            parse_scenario(text_of(document), f"{document['name']}.scenario.yaml")
        except InvalidScenario as error:
            mistakes = "; ".join(diagnostic.text for diagnostic in error.diagnostics)
            return f"the scenario of this group would be invalid: {mistakes}"
    return None


def _write(folder: Path, document: Document) -> Path:
    path = folder / f"{document['name']}.scenario.yaml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, text_of(document).encode())
    except OSError as error:
        raise EnvironmentNotReady(
            f"{path} can't be written: {error.strerror}", "Give another `--write-scenario`."
        ) from error
    return path
