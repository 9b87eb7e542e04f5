"""Prints what a diagnosis answers: a first answer at once, and the last one when nothing may change any more."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rocketchaos.harness.cli.ending import reader_may_go
from rocketchaos.harness.cli.terminal import ERR, OUT, Speaker
from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.output.text import plain, text

if TYPE_CHECKING:
    from rocketchaos.harness.diagnose.diagnosis import Report, Unsettled


@dataclass(slots=True)
class Answers:
    """The answers of one diagnosis, for people; JSON and the page have only the last one."""

    verbose: bool
    speaker: Speaker
    """Standard error if standard output belongs to JSON or a page."""
    known: set[str] = field(default_factory=set)
    """Headlines of the findings that are printed with their proof."""
    told: set[str] = field(default_factory=set)
    """Headlines that are printed without it."""
    begun: bool = False

    def early(self, report: Report, unsettled: Unsettled) -> None:
        """The whole answer of the first look; of later ones the findings that are new."""
        with reader_may_go():
            self._early(report, unsettled)

    def _early(self, report: Report, unsettled: Unsettled) -> None:
        if not self.begun:
            self.begun = True
            self.speaker.print(text(report, verbose=self.verbose))
            self.known.update(finding.headline for finding in report.findings)
        else:
            found = [finding.headline for finding in report.at_least(Level.WARNING)]
            for headline in found:
                if headline not in self.known | self.told:
                    ERR.print(plain(f"found now: {headline}"))
            self.told.update(found)
        ERR.print(
            f"{', '.join(unsettled.codes)} may be a moment of a change: looking again, for up to "
            f"{unsettled.left_s:.0f} s; Ctrl-C ends that ..."
        )

    def last(self, report: Report) -> None:
        """The whole answer; findings of the first one without their proof."""
        if self.begun:
            OUT.print(f"\nAfter {report.seconds:.0f} s:\n")
        OUT.print(text(report, verbose=self.verbose, known=self.known))

    def interrupted(self, *, writes: bool) -> None:
        """What Ctrl-C means for the answer, and for files that were asked for."""
        files = "; no file is written: `--within 3s` ends as early, and writes files" if writes else ""
        ERR.print(f"rocketchaos: interrupted; this is the answer so far{files}")
