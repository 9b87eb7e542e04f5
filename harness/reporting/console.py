"""The console: one run in full, or many runs a line each."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console
from rich.text import Text

from rocketchaos.harness.core.text import seconds_text
from rocketchaos.harness.plan.matrix import LeftOut, left_out_lines
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.cells import (
    CellRuns,
    cells,
    delivered_text,
    fate_lines,
    judgement,
    outcome_text,
    reason_text,
    subscription_text,
)
from rocketchaos.harness.reporting.parts.screen import Screen, outcome_style
from rocketchaos.harness.reporting.parts.screen_many import show_runs, show_sum, show_unexpected_and_repeats
from rocketchaos.harness.reporting.parts.screen_one import show_run

_TITLES = ("client", "RocketMQ", "outcome", "expected?", "delivered", "stored", "took")


def show_matrix(screen: Screen, runs: Sequence[Report], left_out: Sequence[LeftOut]) -> None:
    """What failed in full and the distributions of repeats, then the cells, the sum last."""
    if len(runs) > 1:
        show_unexpected_and_repeats(screen, runs)
    for scenario, own in groupby(cells(runs), lambda item: item.scenario):
        screen.heading(scenario)
        rows = list(own)
        screen.table(_TITLES, [_row(screen, cell) for cell in rows])
        for line in [*fate_lines(rows), *filter(None, map(reason_text, rows))]:
            screen.line(line, indent=2)
    if left_out:
        screen.heading("Left out")
        for line in left_out_lines(left_out):
            screen.line(line, indent=2)
    show_sum(screen, runs)


def _row(screen: Screen, cell: CellRuns) -> list[Text | str]:
    gravest = next((run for run in cell.runs if run.outcome.wrong), cell.runs[0])
    return [
        cell.client,
        cell.rocketmq,
        screen.text(outcome_text(cell), outcome_style(gravest)),
        judgement(cell),
        delivered_text(cell),
        subscription_text(cell),
        seconds_text(cell.seconds),
    ]


@dataclass(frozen=True, slots=True)
class ConsoleReporter:
    """Tells a person at a terminal, or a build's log, how runs ended.

    Give it a console on standard output where the verdict is what the command is for, and one on standard
    error with `--json`. Colour, and its absence, are the console's affair; where its encoding isn't a Unicode
    one, everything is written in ASCII.
    """

    console: Console
    matrix: Sequence[LeftOut] | None = None
    """The cells that were left out of it, where one was asked for."""

    def report(self, runs: Sequence[Report]) -> None:
        """One run: its verdict and all the evidence. Several: a line each, or for each cell, and a summary."""
        screen = Screen(self.console)
        if len(runs) == 1:
            show_run(screen, runs[0])
        elif runs and self.matrix is None:
            show_runs(screen, runs)
        if runs and self.matrix is not None:
            show_matrix(screen, runs, self.matrix)
