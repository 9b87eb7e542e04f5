"""GitHub Actions: annotations at the scenario's lines, and a table on the summary page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TextIO

from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode
from rocketchaos.harness.core.message_classes import class_sentence
from rocketchaos.harness.core.text import counted, printable, seconds_text
from rocketchaos.harness.plan.matrix import LeftOut, left_out_lines
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.cells import cell_text, cells
from rocketchaos.harness.reporting.parts.findings import finding_lines
from rocketchaos.harness.reporting.parts.markdown import cell, code
from rocketchaos.harness.reporting.parts.matrix_table import matrix_table
from rocketchaos.harness.reporting.parts.shares import repeats
from rocketchaos.harness.reporting.parts.verdict import (
    expectation,
    failing_findings,
    judged,
    reason_and_hint,
    sentence,
)
from rocketchaos.harness.reporting.parts.workflow_command import workflow_command


class GitHubReporter:
    """Tells GitHub, in a job of GitHub Actions (`GITHUB_ACTIONS` is `true` there).

    `stream` is where the job's log is read from; `environment` has `GITHUB_STEP_SUMMARY`, the file of the
    summary page, and `GITHUB_WORKSPACE`, the folder to which annotations are relative.
    """

    def __init__(
        self,
        stream: TextIO,
        environment: Mapping[str, str],
        left_out: Sequence[LeftOut] = (),
        *,
        matrix: bool = False,
    ) -> None:
        """`left_out`: what was asked for and not run; `matrix`: one was asked for."""
        self._stream = stream
        self._environment = environment
        self._left_out = left_out
        self._matrix = matrix

    def report(self, runs: Sequence[Report]) -> None:
        """Annotate what was not as expected, or isn't available; add the table to the summary.

        Raises:
            EnvironmentNotReady: the summary can't be written.
        """
        for run in runs:
            if run.outcome.wrong:
                self._stream.write(self._annotation(run) + "\n")
        for line in left_out_lines(item for item in self._left_out if item.code is not ExitCode.AS_EXPECTED):
            self._stream.write(workflow_command("error", {"title": "left out"}, line) + "\n")
        summary = self._environment.get("GITHUB_STEP_SUMMARY")
        if not summary or not runs:
            return
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(_summary(runs, self._left_out, matrix=self._matrix))
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
        workspace, file = self._environment.get("GITHUB_WORKSPACE"), PurePath(run.scenario.file)
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
