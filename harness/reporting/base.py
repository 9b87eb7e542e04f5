"""What reporters report, and the one method that they share."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rocketchaos.assertions.event_view import of_type
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.events.run import Bound
from rocketchaos.harness.core.model import Event, Holds, Outcome, OutcomeKind, Trouble
from rocketchaos.harness.scenario.model import Scenario


@dataclass(frozen=True, slots=True)
class Report:
    """One run, with all that a reporter may want to show. Made from a run folder alone."""

    scenario: Scenario
    outcome: Outcome
    events: Sequence[Event]
    record: Mapping[str, Any]
    """`run.json`; empty if the run didn't come to write it."""
    folder: Path

    @property
    def seconds(self) -> float:
        """How long the run took."""
        return float(self.record.get("seconds") or 0.0)

    @property
    def reproduce_command(self) -> str:
        """A line to paste that runs the same again, from the run folder."""
        return f"rocketchaos reproduce {shlex.quote(str(self.folder))}"

    @property
    def check_command(self) -> str:
        """A line to paste that judges the stored history again, without a cluster."""
        return f"rocketchaos check {shlex.quote(str(self.folder))}"

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of this run alone."""
        if self.outcome.kind is OutcomeKind.ERROR:
            codes = {Trouble.ENVIRONMENT: ExitCode.ENVIRONMENT, Trouble.USAGE: ExitCode.USAGE}
            return codes.get(self.outcome.trouble or Trouble.HARNESS, ExitCode.HARNESS)
        # A measured run that shows neither is a measurement, unless it has not come to its end.
        measured = self.outcome.measured and self.outcome.trouble is None
        if self.outcome.as_expected or measured:
            return ExitCode.AS_EXPECTED
        if self.outcome.kind is OutcomeKind.INCONCLUSIVE or self._only_unknown():
            return ExitCode.INCONCLUSIVE
        return ExitCode.NOT_AS_EXPECTED

    def _only_unknown(self) -> bool:
        """Whether the outcome is the expected one, and of `also` nothing fails, but something can't be said."""
        also = {finding.holds for finding in self.outcome.findings if finding.section == "also"}
        return self.outcome.kind is self.outcome.expected and Holds.NO not in also

    def holders(self) -> tuple[str, ...]:
        """The consumers that the scenario bound as holder, where it did."""
        return tuple(
            name
            for event in of_type(self.events, Bound)
            if event.body.variable == "holder"
            for name in event.body.consumers
        )


class Reporter(Protocol):
    """Tells somebody how runs ended: called once, with all runs of a command, in their order."""

    def report(self, runs: Sequence[Report]) -> None:
        """Tell it."""


def outcome_counts(runs: Sequence[Report]) -> Counter[OutcomeKind]:
    """How many runs ended how."""
    return Counter(run.outcome.kind for run in runs)
