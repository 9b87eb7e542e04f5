"""`diagnose`: the result of `rocketchaos diagnose` for a group, compared with the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, field_validator

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.observed import DiagnosisObserved
from rocketchaos.harness.core.nearest import nearest
from rocketchaos.harness.language.diagnosis_codes import CODES
from rocketchaos.harness.language.words import GroupName, OneOrList

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


class Diagnose(Check):
    """`rocketchaos diagnose --group G` finds these codes, and with `nothing_else` no other.

    It reads the group as that command does, read only, at the observation that the check names. While a
    finding may come from a change under way, it looks again, for up to a minute and a half. `nothing_else`
    counts warnings and errors, but no findings of level info. The answer is unknown if it depends on an
    undetermined code: a code of `finds` that is not found, or any code with `nothing_else`.
    """

    word = "diagnose"
    example = "diagnose: {group: g, finds: [RC0101], nothing_else: true}"

    group: GroupName = Field(description="the group")
    finds: Annotated[tuple[str, ...], OneOrList()] = Field(
        default=(),
        description="the codes that it must find, whatever their level; see `diagnose --list`",
    )
    nothing_else: bool = Field(default=False, description="true: it finds no other warning or error")

    @field_validator("finds")
    @classmethod
    def _known(cls, codes: tuple[str, ...]) -> tuple[str, ...]:
        for code in codes:
            if code not in CODES:
                near = nearest(code, CODES)
                raise ValueError(
                    f"there is no code {code!r}"
                    + (f"; did you mean {near}?" if near else "; `rocketchaos diagnose --list` lists them")
                )
        return codes

    def problems(self, scenario: Scenario) -> Iterator[str]:
        """It says nothing."""
        del scenario
        if not self.finds and not self.nothing_else:
            yield "`diagnose` says nothing: give `finds`, or `nothing_else: true`"

    def title(self) -> str:
        return f"diagnosis of {self.group}"

    def evaluate(self, view: RunView) -> Answer:
        expected = " ".join(
            filter(None, (", ".join(self.finds), "and nothing else" if self.nothing_else else ""))
        )
        events = view.observed(DiagnosisObserved, self.at, group=self.group)
        if not events:
            return Answer(None, expected, f"there was no diagnosis at `{self.at}`")
        body, number = events[-1].body, events[-1].n
        found = {item.code: item.level for item in body.findings}
        observed = ", ".join(f"{code} ({level})" for code, level in sorted(found.items())) or "nothing found"
        if body.undetermined:
            observed += f"; undetermined: {', '.join(body.undetermined)}"
        besides = [code for code, level in found.items() if level != "info" and code not in self.finds]
        missing = [code for code in self.finds if code not in found]
        if (self.nothing_else and besides) or set(missing) - set(body.undetermined):
            return Answer(False, expected, observed, [number])
        unknown = missing or (self.nothing_else and body.undetermined)
        return Answer(None if unknown else True, expected, observed, [number])
