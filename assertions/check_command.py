"""`check-command`: a command of the user's says whether a service did its work elsewhere, as in a database."""

from typing import Annotated

from pydantic import Field

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.observed import CommandObserved
from rocketchaos.harness.language.app_spec import Texts
from rocketchaos.harness.language.words import DurationMs

HOLDS, FAILS = 0, 1
"""The exit codes that say something; any other says that it can't tell."""


class CheckCommand(Check):
    """A command of yours ends with exit code 0, or, with `succeeds: false`, with 1.

    For what a service has done elsewhere, as in a database. It runs while the run is alive, at the observation
    that the check names, in the folder of the scenario's file; the evidence has the end of its output. With any
    other exit code, or where it takes longer than `within`, the answer is unknown. `$nameserver` stands for the
    name server's address.
    """

    word = "check-command"
    example = "check-command: {command: [./all-billed, --orders, 40], within: 10s}"

    command: Annotated[Texts, Field(min_length=1)] = Field(
        description="the command and its arguments; a first word with a `/` is seen from the scenario's file, "
        "then from the current folder, others are looked up on the PATH"
    )
    succeeds: bool = Field(
        default=True,
        description="whether it must end with exit code 0; `false`: with 1, for the list that says the contrary",
    )
    within: DurationMs = Field(default=30_000, gt=0, description="how long it may take")

    def title(self) -> str:
        return f"{' '.join(self.command)} {'succeeds' if self.succeeds else 'fails'}"

    def evaluate(self, view: RunView) -> Answer:
        wanted = HOLDS if self.succeeds else FAILS
        expected = f"exit code {wanted}"
        events = [
            event
            for event in view.observed(CommandObserved, self.at)
            if (event.body.command, event.body.within_ms) == (self.command, self.within)
        ]
        if not events:
            return Answer(None, expected, f"it was not run at `{self.at}`")
        body, number = events[-1].body, events[-1].n
        printed = f"; it printed: {body.output}" if body.output else "; it printed nothing"
        if body.exit_code is None:
            return Answer(None, expected, f"{body.why_none}{printed}", [number])
        observed = f"exit code {body.exit_code}{printed}"
        if body.exit_code not in (HOLDS, FAILS):
            return Answer(None, expected, f"{observed}; only {HOLDS} and {FAILS} say something", [number])
        return Answer(body.exit_code == wanted, expected, observed, [number])
