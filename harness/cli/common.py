"""What commands that run scenarios share: how they report runs. Their options are in `common_options`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rocketchaos.harness.cli.ending import reader_may_go
from rocketchaos.harness.cli.output_files import require_folder, require_writable
from rocketchaos.harness.cli.terminal import ERR, OUT, Progress, tell_left_out
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.jars.builds import version_of
from rocketchaos.harness.nightly.again import seen_again
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.plan.matrix import LeftOut, Matrix, Plan, code_with, left_out_lines
from rocketchaos.harness.plan.obtainable import obtainable
from rocketchaos.harness.plan.options import DEFAULT_VERSION
from rocketchaos.harness.reporting.base import Report, Reporter
from rocketchaos.harness.reporting.parts.earlier_run import Again, exit_code_of
from rocketchaos.harness.scenario.hints import hints
from rocketchaos.harness.scenario.model import Scenario

if TYPE_CHECKING:
    from rocketchaos.harness.engine.runner import Runner

LEAST_MINUTES, MOST_MINUTES = 0.5, 7 * 24 * 60.0
"""For options that limit how long a command may take; `nan` and `inf` are refused."""


def chosen_version(chosen: str | None) -> str:
    """The version of `--rocketmq`, or the name of the build in that folder; otherwise the default.

    Raises:
        UsageProblem: it is neither.
    """
    return DEFAULT_VERSION if chosen is None else version_of(chosen)


def run_and_tell(
    runner: Runner,
    jobs: Sequence[Job],
    *,
    parallel: int | None,
    progress: Progress,
    as_json: bool,
    junit: Path | None,
    left_out: Sequence[LeftOut] = (),
    matrix: bool = False,
    wanted: Sequence[str] = (),
) -> ExitCode:
    """Run them all and tell how they ended, and whether the findings with these codes were there again.

    Versions that are not available are left out, and named before anything is downloaded. The exit code is that of
    all together. If something ends it early, the ended runs are still reported, and the error propagates.

    Raises:
        UsageProblem: nothing is left, because there are no such versions. EnvironmentNotReady: nothing is
        left, because no version can be downloaded now.
    """
    require_folder(runner.options.runs, "Choose another --runs.")
    if junit is not None:
        require_writable(junit, "Choose another --junit.")
    jobs, absent = obtainable(jobs, runner.options.on, runner.absences(jobs))
    for line in left_out_lines(absent):
        tell_left_out(line)
    left_out = (*left_out, *absent)
    reports: list[Report] = []
    try:
        with runner:
            for report in runner.run_all(jobs, parallel):
                reports.append(report)
                if len(jobs) > 1:
                    progress(f"{len(reports)} of {len(jobs)} runs done")
    except BaseException:
        progress.stop()
        tell(runner.reports, as_json=as_json, junit=junit, left_out=left_out, matrix=matrix, wanted=wanted)
        for line in not_run_lines(jobs, runner.reports):
            ERR.print(f"not run: {line}")
        raise
    progress.stop()
    return tell(reports, as_json=as_json, junit=junit, left_out=left_out, matrix=matrix, wanted=wanted)


def not_run_lines(jobs: Sequence[Job], reports: Sequence[Report]) -> list[str]:
    """Which of the jobs have no report, a line for each client and version."""
    wanted = Counter((job.clients, job.rocketmq, job.scenario.name) for job in jobs)
    left = wanted.copy()
    for report in reports:
        cell = report.record["cell"]
        left[cell["client"], cell["rocketmq"], report.scenario.name] -= 1
    found: dict[tuple[str, str], list[str]] = {}
    for (clients, version, name), count in (+left).items():
        times = wanted[clients, version, name]
        of = f" ({count} of {times} times)" if times > 1 else ""
        found.setdefault((clients, version), []).append(name + of)
    return [
        f"{clients} on RocketMQ {version}: {', '.join(names)}" for (clients, version), names in found.items()
    ]


def say_left_out(planned: Plan, matrix: Matrix | None) -> None:
    """Name what is not run, before anything is; in a matrix with its cell."""
    lines = left_out_lines(planned.left_out) if matrix else [item.reason for item in planned.left_out]
    for line in lines:
        tell_left_out(line)


def say_hints(scenarios: Iterable[Scenario]) -> None:
    """What `validate` would hint at, a line each; before anything is run."""
    for item in (hint for scenario in scenarios for hint in hints(scenario)):
        ERR.print(f"{item.file}:{item.line}:{item.column}: {item.text}")


def tell(
    reports: Sequence[Report],
    *,
    as_json: bool,
    junit: Path | None,
    left_out: Sequence[LeftOut] = (),
    matrix: bool = False,
    wanted: Sequence[str] = (),
) -> ExitCode:
    """Tell every reporter that is wanted; the exit code of all runs together.

    `left_out` says which scenarios were not run, and why, and may change the code; `matrix` whether a matrix was
    asked for; `wanted` has the codes of a night's findings that were to be seen again.
    """
    of_matrix, again = left_out if matrix else None, seen_again(wanted, reports)
    main = _json_reporter(left_out, again, matrix) if as_json else _console_reporter(of_matrix)
    reporters: list[Reporter] = [main]
    if junit is not None:
        from rocketchaos.harness.reporting.junit import JUnitReporter

        reporters.append(JUnitReporter(junit, left_out, cells=matrix))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from rocketchaos.harness.reporting.github import GitHubReporter

        # Annotations are read from the output of a step; JSON on standard output must stay alone.
        reporters.append(
            GitHubReporter(sys.stderr if as_json else sys.stdout, os.environ, left_out, matrix=matrix)
        )
    for reporter in reporters:
        with reader_may_go():
            reporter.report(reports)
    with reader_may_go():
        for item in () if as_json else again:
            OUT.print(str(item))
    code = exit_code_of(reports, again)
    if code is ExitCode.INCONCLUSIVE and not all(entry.runs for entry in again):
        ERR.print("rocketchaos: not every finding was seen again; a race may need more runs: --repeat")
    with_all = code_with(left_out, code)
    if with_all is not code:
        gone = dict.fromkeys(entry.rocketmq for entry in left_out if entry.code is with_all)
        ERR.print(
            f"rocketchaos: exit code {int(with_all)}, because of what was left out on RocketMQ {', '.join(gone)}"
        )
    return with_all


def _json_reporter(left_out: Sequence[LeftOut], again: Sequence[Again], matrix: bool) -> Reporter:
    from rocketchaos.harness.reporting.document import DocumentReporter

    return DocumentReporter(sys.stdout, left_out, again, matrix=matrix)


def _console_reporter(of_matrix: Sequence[LeftOut] | None) -> Reporter:
    from rocketchaos.harness.reporting.console import ConsoleReporter  # with rich, which JSON doesn't need

    return ConsoleReporter(OUT.rich, of_matrix)
