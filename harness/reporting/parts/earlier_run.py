"""The findings of an earlier run, compared with new runs of the same: were they there again? Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.reporting.base import Report


@dataclass(frozen=True, slots=True)
class Again:
    """A finding of an earlier run, and in how many new runs it was there."""

    code: str
    signature: str
    """The code in words."""
    runs: int
    of: int
    say_nothing: int
    """New runs that did not come to their end."""

    def __str__(self) -> str:
        silent = f"; {self.say_nothing} of them say nothing" if self.say_nothing else ""
        return f"finding {self.code} ({self.signature}): in {self.runs} of {self.of} runs{silent}"

    def as_json(self) -> dict[str, Any]:
        """As the document of `--json` has it."""
        return {
            "code": self.code,
            "signature": self.signature,
            "runs": self.runs,
            "of": self.of,
            "say_nothing": self.say_nothing,
        }


def exit_code_of(runs: Sequence[Report], again: Sequence[Again]) -> ExitCode:
    """The code of all runs together.

    By their own checks; where of those nothing is expected, and an earlier run had findings, 3 unless each of
    these was there again.
    """
    code = ExitCode.gravest([run.exit_code for run in runs])
    only_measured = bool(runs) and all(run.outcome.measured for run in runs)
    if only_measured and not all(item.runs for item in again):
        return ExitCode.INCONCLUSIVE
    return code
