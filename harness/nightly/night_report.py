"""A night in words: on the screen, for a build server, for GitHub. Pure except for the writing."""

import shlex
from collections.abc import Container, Iterator
from pathlib import Path
from typing import TextIO

from rocketchaos.harness.core.text import counted, printable
from rocketchaos.harness.nightly.nightly_run import NightlyRun
from rocketchaos.harness.nightly.summary import Found, Summary, finding_of
from rocketchaos.harness.reporting.parts.junit_file import Case, Problem, write_junit_file
from rocketchaos.harness.reporting.parts.workflow_command import workflow_command

SIGNATURES_SHOWN = 40


def lines(summary: Summary) -> Iterator[str]:
    """The text on the screen."""
    night = summary.night
    judged = len(summary.runs) - len(summary.not_judged)
    share = "" if night.shard.count == 1 else f", shard {night.shard}"
    busy = "" if summary.busy is None else f"; cores busy {summary.busy:.0%} (median)"
    yield (
        f"seed {night.seed}{share}: {counted(len(summary.runs), 'scenario')} in {night.took_s / 60:.1f} min, "
        f"{judged} judged, {len(summary.inconclusive)} inconclusive, {counted(len(summary.errors), 'error')}; "
        f"{summary.again} tried again, {night.passed_over} skipped, {night.cut_off} cut off{busy}"
    )
    if night.gave_up:
        yield "it ended before its time: the environment broke whatever began"
    yield f"{counted(len(summary.found), 'finding')}, {len(summary.new)} of them new"
    for found in summary.found[:SIGNATURES_SHOWN]:
        yield ""
        yield f"{'known' if found.known else 'NEW':5}  {found.first.title}"
        name = found.shortest.name
        yield f"       in {counted(len(found.runs), 'run')} of {judged}, as in {name}:"
        yield f"       {finding_of(found, found.shortest).breach.sentence}"
        yield f"       events {_numbers(found)}; {_commands(found.shortest)}"
    for sentence, runs in summary.observed.items():
        yield ""
        yield f"observed: {sentence}"
        yield f"       in {counted(len(runs), 'run')} of {len(summary.runs)}, as in {runs[0].folder}"
    for run in summary.not_judged:
        yield ""
        yield f"says nothing: {run.name}: {run.not_judged}"
        yield f"       {run.folder}"


def _numbers(found: Found) -> str:
    return ", ".join(map(str, finding_of(found, found.shortest).breach.events))


def _commands(run: NightlyRun) -> str:
    folder = shlex.quote(str(run.folder))
    return f"rocketchaos shrink {folder}"


def github_annotations(summary: Summary) -> Iterator[str]:
    """Workflow commands of GitHub Actions: an error for each new finding, a notice for each known one.

    A service that differs from the profile is a warning, and so is a run that ended by an error: it decides
    nothing, and somebody should know.
    """
    for found in summary.found:
        level = "notice" if found.known else "error"
        text = f"{finding_of(found, found.shortest).breach.sentence}\n{_commands(found.shortest)}"
        yield workflow_command(level, {"title": printable(found.first.title)}, text)
    for sentence, runs in summary.observed.items():
        yield workflow_command("warning", {"title": "observed"}, f"{sentence}\n{runs[0].folder}")
    for run in summary.errors:
        yield workflow_command(
            "warning", {"title": printable(f"{run.name} says nothing")}, f"{run.not_judged}"
        )


def write_junit(summary: Summary, file: Path) -> None:
    """JUnit XML: a test case for each scenario; new findings are its failures, errors its errors.

    Raises:
        EnvironmentNotReady: it can't be written.
    """
    known = {found.code for found in summary.found if found.known}
    cases = [_case(run, known) for run in summary.runs]
    write_junit_file(file, "rocketchaos nightly", f"seed {summary.night.seed}", cases)


def _case(run: NightlyRun, known: Container[str]) -> Case:
    problems = [
        Problem("failure", finding.title, finding.kind, f"{finding.breach.sentence}\n{_commands(run)}")
        for finding in run.findings
        if finding.code not in known
    ]
    if run.not_judged is not None:
        problems.append(Problem("skipped" if run.error is None else "error", run.not_judged))
    texts = [f"known: {finding.title}" for finding in run.findings if finding.code in known]
    if run.tries > 1:
        texts.append(f"run {run.tries} times: the environment had failed before")
    name = f"{run.name}: {run.title}"
    return Case("nightly", name, run.seconds, problems, output="\n".join(texts))


def write_lines(stream: TextIO, text_lines: Iterator[str]) -> None:
    """Write them, each on a line of its own."""
    for line in text_lines:
        stream.write(f"{line}\n")
