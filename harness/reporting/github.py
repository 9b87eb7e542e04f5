"""GitHub Actions: annotations at the scenario's lines, and a table on the summary page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TextIO

from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode
from rocketchaos.harness.core.message_classes import class_sentence
from rocketchaos.harness.core.text import counted, printable, seconds_text
from rocketchaos.harness.plan.matrix import LeftOut, left_out_lines
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.cells import (
    CellRuns,
    cell_text,
    cells,
    delivered_text,
    judgement,
    outcome_text,
    subscription_text,
)
from rocketchaos.harness.reporting.parts.findings import finding_lines
from rocketchaos.harness.reporting.parts.markdown import cell, code
from rocketchaos.harness.reporting.parts.shares import repeats
from rocketchaos.harness.reporting.parts.verdict import (
    expectation,
    failing_findings,
    judged,
    reason_and_hint,
    sentence,
)
from rocketchaos.harness.reporting.parts.workflow_command import workflow_command

_HEAD = (
    "| scenario | client | RocketMQ | outcome | expected? | delivered | stored at the end | took |",
    "|---|---|---|---|---|---|---|---:|",
)


def matrix_table(found: Sequence[CellRuns]) -> str:
    """A line a cell; a scenario's name stands in its first one."""
    lines = list(_HEAD)
    before = ""
    for cell_runs in found:
        name, before = "" if cell_runs.scenario == before else f"`{cell_runs.scenario}`", cell_runs.scenario
        columns = (
            *map(cell, (name, cell_runs.client, cell_runs.rocketmq)),
            f"**{cell(outcome_text(cell_runs))}**",
            *map(
                cell,
                (
                    judgement(cell_runs),
                    delivered_text(cell_runs),
                    subscription_text(cell_runs),
                    seconds_text(cell_runs.seconds),
                ),
            ),
        )
        lines.append("| " + " | ".join(columns) + " |")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class GitHubReporter:
    """Tells GitHub, in a job of GitHub Actions (`GITHUB_ACTIONS` is `true` there).

    `stream` is where the job's log is read from; `environment` has `GITHUB_STEP_SUMMARY`, the file of the
    summary page, and `GITHUB_WORKSPACE`, the folder to which annotations are relative.
    """

    stream: TextIO
    environment: Mapping[str, str]
    left_out: Sequence[LeftOut] = ()
    """What was asked for and not run."""
    matrix: bool = False
    """Whether one was asked for."""

    def report(self, runs: Sequence[Report]) -> None:
        """Annotate what was not as expected, or isn't available; add the table to the summary.

        Raises:
            EnvironmentNotReady: the summary can't be written.
        """
        for run in runs:
            if run.outcome.wrong:
                self.stream.write(self._annotation(run) + "\n")
        for line in left_out_lines(item for item in self.left_out if item.code is not ExitCode.AS_EXPECTED):
            self.stream.write(workflow_command("error", {"title": "left out"}, line) + "\n")
        summary = self.environment.get("GITHUB_STEP_SUMMARY")
        if not summary or not runs:
            return
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(_summary(runs, self.left_out, matrix=self.matrix))
        except OSError as error:
            raise EnvironmentNotReady(f"GITHUB_STEP_SUMMARY can't be written: {error.strerror}") from error

    def _annotation(self, run: Report) -> str:
        failing = failing_findings(run)
        properties = {"file": self._file(run), "title": sentence(run)}
        lines = [finding.line for finding in failing if finding.line is not None]
        if lines:
            properties["line"] = str(lines[0])
        reason, hint = reason_and_hint(run)
        text = "\n".join(
            part
            for part in (reason, hint, *finding_lines(run), f"Reproduce: {run.reproduce_command}")
            if part
        )
        return workflow_command("error", properties, text)

    def _file(self, run: Report) -> str:
        workspace, file = self.environment.get("GITHUB_WORKSPACE"), PurePath(run.scenario.file)
        if workspace and file.is_relative_to(workspace):
            file = file.relative_to(workspace)
        return printable(file) if run.scenario.file else ""


def _mark(run: Report) -> str:
    return "❌" if run.outcome.wrong else "📏" if run.outcome.measured else "✅"


def _summary(runs: Sequence[Report], left_out: Sequence[LeftOut], *, matrix: bool) -> str:
    lines = [
        f"### rocketchaos: {counted(len(runs), 'run')}, {judged(runs)}",
        "",
        "| | scenario | outcome | messages | took | reproduce |",
        "|---|---|---|---|---|---|",
    ]
    for run in runs:
        lines.append(
            f"| {_mark(run)} "
            f"| {cell(run.scenario.title + (f' ({cell_text(run)})' if matrix else ''))} "
            f"| **{run.outcome.kind.value}**, {cell(expectation(run))} "
            f"| {cell(class_sentence(run.outcome.messages))} "
            f"| {seconds_text(run.seconds)} "
            f"| {code(run.reproduce_command)} |"
        )
    for group in repeats(runs):
        shares = [f"{kind.value} {share}" for kind, share in group.outcomes().items()]
        shares += [f"holder {holder}: {share}" for holder, share in group.holders().items()]
        lines += ["", f"{cell(group.scenario)}, {len(group.runs)} runs: " + "; ".join(map(cell, shares))]
    if matrix:
        lines += ["", matrix_table(cells(runs))]
    if left_out:
        lines += ["", *(f"- left out: {cell(item)}" for item in left_out_lines(left_out))]
    return "\n".join([*lines, "", ""])
