"""Writes and reports a night."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rocketchaos.harness.cli.report_pages import ingest_and_report
from rocketchaos.harness.cli.terminal import ERR, OUT
from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode, RocketchaosError
from rocketchaos.harness.nightly.night import Night
from rocketchaos.harness.nightly.night_report import github_annotations, lines, write_junit, write_lines
from rocketchaos.harness.nightly.nightly_run import NightlyRun
from rocketchaos.harness.nightly.status import StatusFile
from rocketchaos.harness.nightly.summary import Summary, summary_of
from rocketchaos.harness.nightly.thinning import Thinning


@dataclass(frozen=True, slots=True)
class NightAccount:
    """Writes and reports a night: after each run, at the end, and when its runs are in a store.

    A file that can't be written is reported, and hides no finding of the night.
    """

    night: Night
    known: frozenset[str]
    status: StatusFile
    thinning: Thinning

    @property
    def summary(self) -> Summary:
        """As far as the night has come."""
        return summary_of(self.night, self.known)

    def after(self, run: NightlyRun, *, thin: bool) -> None:
        """A run has ended."""
        self.thinning.note(run)
        if thin:
            self.thinning.thin()
        with suppress(EnvironmentNotReady):  # a disk that is full now may not be so at the end
            self.status.write(self.summary, self.thinning.left, ended=False)

    def tell(self, *, as_json: bool, junit: Path | None) -> list[ExitCode]:
        """Everywhere; files first, because printing may fail on a closed pipe.

        Returns: how a command ends for each file that can't be written.
        """
        summary, left = self.summary, self.thinning.left
        codes = do_or_tell(lambda: self.status.write(summary, left, ended=True))
        if junit is not None:
            codes += do_or_tell(lambda: write_junit(summary, junit))
        if as_json:
            sys.stdout.write(self.status.text(summary, left, ended=True))
        else:
            for line in lines(summary):
                OUT.print(line)
        if os.environ.get("GITHUB_ACTIONS") == "true":
            # Annotations are read from the output of a step; JSON on standard output must stay alone.
            write_lines(sys.stderr if as_json else sys.stdout, github_annotations(summary))
        return codes

    def store(self, runs: Path, store: str, out: Path) -> list[ExitCode]:
        """Read the runs into the store, write the reports, and only then thin out: runs that are in no store stay.

        Returns: how a command ends for what kept them from being made.
        """
        codes = read_into(store, runs, out)
        if not codes:
            self.thinning.thin()
            codes = do_or_tell(lambda: self.status.write(self.summary, self.thinning.left, ended=True))
        return codes

    def exit_code(self, others: list[ExitCode]) -> ExitCode:
        """By new findings alone; without any, by the most severe result, including other failures."""
        summary = self.summary
        return summary.exit_code if summary.new else ExitCode.gravest([summary.exit_code, *others])


def read_into(store: str, runs: Path, out: Path) -> list[ExitCode]:
    """Read the runs into the store, and write the reports over all of it.

    Returns: the exit code of what kept them from being made, which is reported.
    """
    return do_or_tell(lambda: _report(runs, store, out), f"the runs in {runs} are not in the store: ")


def _report(runs: Path, store: str, out: Path) -> None:
    for page in ingest_and_report(runs, store, out):
        ERR.print(f"Wrote {page}")


def do_or_tell(do: Callable[[], object], about: str = "") -> list[ExitCode]:
    """Do it; if it fails, print why, and return the exit code for that alone."""
    try:
        do()
    except RocketchaosError as problem:
        ERR.print(f"rocketchaos: {about}{problem}")
        return [problem.exit_code]
    return []
