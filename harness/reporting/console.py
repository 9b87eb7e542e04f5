"""The console: one run in full, or many runs a line each."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from rocketchaos.harness.plan.matrix import LeftOut
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.screen import Screen
from rocketchaos.harness.reporting.parts.screen_many import show_runs
from rocketchaos.harness.reporting.parts.screen_matrix import show_matrix
from rocketchaos.harness.reporting.parts.screen_one import show_run


class ConsoleReporter:
    """Tells a person at a terminal, or a build's log, how runs ended.

    Give it a console on standard output where the verdict is what the command is for, and one on standard
    error with `--json`. Colour, and its absence, are the console's affair; where its encoding isn't a Unicode
    one, everything is written in ASCII.
    """

    def __init__(self, console: Console, matrix: Sequence[LeftOut] | None = None) -> None:
        """`matrix`: the cells that were left out of it, where one was asked for."""
        self._console = console
        self._matrix = matrix

    def report(self, runs: Sequence[Report]) -> None:
        """One run: its verdict and all the evidence. Several: a line each, or for each cell, and a summary."""
        screen = Screen(self._console)
        if len(runs) == 1:
            show_run(screen, runs[0])
        elif runs and self._matrix is None:
            show_runs(screen, runs)
        if runs and self._matrix is not None:
            show_matrix(screen, runs, self._matrix)
