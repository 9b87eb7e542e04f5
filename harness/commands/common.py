"""What commands share: their options, how progress is shown, and how runs are told of."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.status import Status

from harness.campaign import DEFAULT_VERSION, Campaign
from harness.cluster.kinds import ClusterKind
from harness.errors import ExitCode
from harness.job import Job
from harness.matrix import LeftOut, Matrix, Plan, left_out_told
from harness.reporters import ConsoleReporter, DocumentReporter, GitHubReporter, JUnitReporter
from harness.reporters.base import Report, Reporter
from harness.store import runs_folder


class Timing(StrEnum):
    """The timing profiles, as an option."""

    COMPRESSED = "compressed"
    FAITHFUL = "faithful"


RocketmqOption = Annotated[
    str, typer.Option("--rocketmq", metavar="VERSION", help="RocketMQ of servers and clients, 4.9.x or 5.x.")
]
ChosenRocketmqOption = Annotated[
    str | None,
    typer.Option(
        "--rocketmq",
        metavar="VERSION",
        help=f"RocketMQ of servers and clients, 4.9.x or 5.x. [default: {DEFAULT_VERSION}]",
    ),
]
TimingOption = Annotated[
    Timing | None,
    typer.Option(
        "--timing", help="RocketMQ's own timers, or shortened ones; instead of what the scenario says."
    ),
]
OnOption = Annotated[
    ClusterKind,
    typer.Option("--on", help="Name server and brokers as processes of this host, or in containers."),
]
DashboardOption = Annotated[
    bool,
    typer.Option("--dashboard", help="With RocketMQ's dashboard as a third witness, in a container."),
]
RunsOption = Annotated[
    Path | None,
    typer.Option(
        "--runs", metavar="FOLDER", help="Where run folders go. [default: ROCKETCHAOS_RUNS or ./runs]"
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        help="Names the run; nothing that the harness does is left to chance so far. A random one unless given.",
    ),
]
ParallelOption = Annotated[
    int | None,
    typer.Option("--parallel", min=1, help="So many at a time. [default: by cores and load]"),
]
KeepOption = Annotated[bool, typer.Option("--keep", help="Leave the cluster up; `rocketchaos down` ends it.")]
JsonOption = Annotated[
    bool, typer.Option("--json", help="One JSON document on standard output, nothing else.")
]
JunitOption = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML to this file as well.")
]


class _Console(Console):
    """A console whose reader may go, as `head` does: that is no failure, see `harness.cli`."""

    def on_broken_pipe(self) -> None:
        """Instead of the exit code 1 of rich."""
        raise BrokenPipeError


OUT = _Console(highlight=False, soft_wrap=True)
"""Data: verdicts, lists."""
ERR = _Console(stderr=True, highlight=False, soft_wrap=True)
"""Progress and complaints."""


class Progress:
    """Says what takes time: a spinner on a terminal, otherwise one line a change, always on standard error."""

    def __init__(self) -> None:
        self._status: Status | None = None
        self._last = ""

    def __call__(self, text: str) -> None:
        if text == self._last:
            return
        self._last = text
        if not ERR.is_terminal:
            ERR.print(f"{text} ...", markup=False)
        elif self._status is None:
            self._status = ERR.status(text)
            self._status.start()
        else:
            self._status.update(text)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_unused: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Say no more."""
        if self._status is not None:
            self._status.stop()


def runs_or_default(runs: Path | None) -> Path:
    """The chosen folder for runs, or the default one."""
    return runs_folder() if runs is None else runs


def version_or(recorded: object, chosen: str | None) -> str:
    """The chosen version, otherwise the recorded one, otherwise the default."""
    return chosen if chosen is not None else str(recorded) if recorded else DEFAULT_VERSION


def run_and_tell(
    campaign: Campaign,
    jobs: Sequence[Job],
    *,
    parallel: int | None,
    progress: Progress,
    as_json: bool,
    junit: Path | None,
    left_out: Sequence[LeftOut] = (),
    matrix: bool = False,
) -> ExitCode:
    """Run them all and tell how they ended; the exit code of all together.

    Where something ends it early, what has ended by then is told all the same, and the error goes on.
    """
    reports: list[Report] = []
    try:
        with campaign:
            for report in campaign.run_all(jobs, parallel):
                reports.append(report)
                if len(jobs) > 1:
                    progress(f"{len(reports)} of {len(jobs)} runs done")
    except BaseException:
        progress.stop()
        tell(campaign.reports, as_json=as_json, junit=junit, left_out=left_out, matrix=matrix)
        raise
    progress.stop()
    return tell(reports, as_json=as_json, junit=junit, left_out=left_out, matrix=matrix)


def say_left_out(planned: Plan, matrix: Matrix | None) -> None:
    """Name what is not run, before anything is; in a matrix with its cell."""
    told = left_out_told(planned.left_out) if matrix else [one.reason for one in planned.left_out]
    for line in told:
        ERR.print(f"left out: {line}", markup=False)


def tell(
    reports: Sequence[Report],
    *,
    as_json: bool,
    junit: Path | None,
    left_out: Sequence[LeftOut] = (),
    matrix: bool = False,
) -> ExitCode:
    """Tell every reporter that is wanted; the exit code of all runs together.

    `left_out` says which scenarios were not run, and why; `matrix` whether a matrix was asked for.
    """
    of_matrix = left_out if matrix else None
    reporters: list[Reporter] = [
        DocumentReporter(sys.stdout, [one.reason for one in left_out], of_matrix)
        if as_json
        else ConsoleReporter(OUT, of_matrix)
    ]
    if junit is not None:
        reporters.append(JUnitReporter(junit, cells=matrix))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        # Annotations are read from the output of a step; JSON on standard output must stay alone.
        reporters.append(GitHubReporter(sys.stderr if as_json else sys.stdout, os.environ, of_matrix))
    for reporter in reporters:
        reporter.report(reports)
    return ExitCode.gravest([report.exit_code for report in reports])
