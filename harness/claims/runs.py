"""Reads run folders, and extracts the data for claims."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from rocketchaos.harness.claims.evidence import (
    CheckSeen,
    RunSeen,
    compact,
    read_evidence,
    some_of,
    without_places,
)
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.core.model import SCHEMA_VERSION, SECTIONS, Event, Holds, OutcomeKind
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.language.expectation import label_of
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.scenario.model import Scenario

_NEVER = (OutcomeKind.ERROR, OutcomeKind.INCONCLUSIVE)


def seen_in(paths: Iterable[Path], left_out: Callable[[str], None]) -> list[RunSeen]:
    """The runs of folders: of one run, of many below it, or of evidence.

    Args:
        paths: of the folders.
        left_out: called for each run below a folder that has no outcome, with a sentence that names it.

    Raises:
        UsageProblem: a folder has neither, or a run folder can't be read.
    """
    return list({run.run: run for path in paths for run in _seen_in(path, left_out)}.values())


def _seen_in(path: Path, left_out: Callable[[str], None]) -> Iterator[RunSeen]:
    folders = run_folders(path)
    if folders:
        for folder in folders:
            if folder == path or _was_judged(folder):
                yield seen_in_folder(folder)
            else:
                left_out(f"{folder} has not ended; if its harness was killed, `rocketchaos check` judges it")
    elif path.is_dir() and any(path.glob("*/*.jsonl")):
        yield from read_evidence(path)
    elif not path.exists():
        raise UsageProblem(
            f"there is no folder {path}", "Give run folders, a folder of them, or one of evidence."
        )
    else:
        raise UsageProblem(
            f"there are no runs in {path}", "Give run folders, a folder of them, or one of evidence."
        )


def _was_judged(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("outcome.json", "checks.json"))


def run_folders(path: Path) -> list[Path]:
    """The run folders at and below a path, without the links to them."""
    files = sorted(path.rglob("events.jsonl")) if path.is_dir() else []
    return [file.parent for file in files if (file.parent / "scenario.yaml").is_file()]


def seen_in_folder(path: Path) -> RunSeen:
    """What is kept of a run folder; its checks are those that were judged when it ended.

    Raises:
        UsageProblem: it can't be read, or is of another schema.
    """
    folder = RunFolder.existing(path)
    outcome, checks, record = (folder.read_json(f"{name}.json") for name in ("outcome", "checks", "run"))
    versions = {document.get("schema_version") for document in (outcome, checks)}
    if versions != {SCHEMA_VERSION}:
        lacks = versions == {None}
        what = (
            "has no outcome.json and no checks.json"
            if lacks
            else f"is not of schema version {SCHEMA_VERSION}"
        )
        raise UsageProblem(f"{path} {what}", f"`rocketchaos check {path}` judges it again.")
    scenario = _scenario(folder)
    ids = _ids(scenario)
    findings = [
        {"id": ids.get((check["section"], check.get("line"))), **check}
        for check in checks["checks"]
        if check["claim"] or check.get("refutes")
    ]
    kind = OutcomeKind(outcome["outcome"])
    return _run(
        name=f"{path.resolve().parent.name}/{path.resolve().name}",
        record=record,
        outcome=kind,
        expected=OutcomeKind(outcome["expected"]) if outcome["expected"] else None,
        not_counted=_why_not(kind, outcome["reason"], scenario, record),
        findings=findings,
        events=folder.read_events().events,
    )


def seen(report: Report) -> RunSeen:
    """The part of an ended run that is kept."""
    outcome, record = report.outcome, report.record
    findings = [
        {
            "section": finding.section,
            "name": finding.name,
            "holds": finding.holds,
            "expected": finding.expected,
            "observed": finding.observed,
            "claim": finding.claim,
            "refutes": finding.refutes,
            "events": finding.events,
            "id": finding.id,
        }
        for finding in outcome.findings
        if finding.claim or finding.refutes
    ]
    return _run(
        name=f"{report.folder.parent.name}/{report.folder.name}",
        record=record,
        outcome=outcome.kind,
        expected=outcome.expected,
        not_counted=_why_not(outcome.kind, outcome.reason, report.scenario, record),
        findings=findings,
        events=report.events,
    )


def _run(
    *,
    name: str,
    record: Mapping[str, Any],
    outcome: OutcomeKind,
    expected: OutcomeKind | None,
    not_counted: str,
    findings: Iterable[Mapping[str, Any]],
    events: Iterable[Event],
) -> RunSeen:
    checks = tuple(
        CheckSeen(
            section=finding["section"],
            name=finding["name"],
            holds=Holds(finding["holds"]),
            expected=finding["expected"],
            observed=finding["observed"],
            claim=finding["claim"],
            refutes=finding.get("refutes"),
            events=some_of(tuple(finding["events"])),
            cited=len(finding["events"]),
            id=finding["id"] or "",
        )
        for finding in findings
    )
    return RunSeen(
        run=name,
        scenario=str(record.get("scenario") or name.partition("/")[0]),
        rocketmq=str(record.get("rocketmq") or "unknown"),
        client=_clients(record),
        timing=str(record.get("timing") or ""),
        outcome=outcome,
        expected=expected,
        not_counted=not_counted,
        checks=checks,
        events=compact(events, (n for check in checks for n in check.events)),
    )


def _why_not(
    outcome: OutcomeKind,
    reason: str,
    scenario: Scenario | None,
    record: Mapping[str, Any],
) -> str:
    """Why a run counts for no claim; empty if it does."""
    if outcome in _NEVER:
        # The rest of it is for whoever ran it: the end of a server's output, where its log lies.
        return f"{outcome.value}: {without_places(reason.splitlines()[0] if reason else reason)}"
    client, version = _clients(record), record.get("rocketmq")
    if scenario is not None and client and version:
        own = Job(scenario, str(version)).clients
        if own != client and label_of(own) != client:
            return f"played with other clients than its own, {client} in place of {own}"
    return ""


def _clients(record: Mapping[str, Any]) -> str:
    """The clients of a run, as a matrix names them; older runs have the kinds alone, or nothing."""
    return str((record.get("cell") or record).get("client") or "")


def _ids(scenario: Scenario | None) -> dict[tuple[str, int | None], str]:
    """The ids of checks by section and line: folders from before checks had ids don't tell them."""
    if scenario is None:
        return {}
    return {
        (section, scenario.line_of(section, index)): check.identity
        for section in SECTIONS
        for index, check in enumerate(getattr(scenario, section))
    }


def _scenario(folder: RunFolder) -> Scenario | None:
    try:
        return _parsed(folder.scenario_path.read_text(encoding="utf-8"))
    except OSError:
        return None


@lru_cache(maxsize=256)
def _parsed(text: str) -> Scenario | None:
    """The scenario of a run; None if an older one is none any more."""
    try:
        return parse_scenario(text, "scenario.yaml", reach=False)
    except InvalidScenario:
        return None
