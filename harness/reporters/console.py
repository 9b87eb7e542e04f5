"""The console: one run in full, or many runs a line each."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from harness.reporters.base import Report
from harness.reporters.parts.screen import Screen
from harness.reporters.parts.screen_many import show_runs
from harness.reporters.parts.screen_one import show_run


class ConsoleReporter:
    """Tells a person at a terminal, or a build's log, how runs ended.

    Give it a console on standard output where the verdict is what the command is for, and one on standard
    error beside `--json`. Colour, and its absence, are the console's affair; where its encoding isn't a
    Unicode one, everything is told in ASCII.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    def report(self, runs: Sequence[Report]) -> None:
        """One run: its verdict and all the evidence. Several: a line each, and a summary."""
        screen = Screen(self._console)
        if len(runs) == 1:
            show_run(screen, runs[0])
        elif runs:
            show_runs(screen, runs)
