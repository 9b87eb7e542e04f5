"""`heal`: faults of the network end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.language.fault_registry import NETWORK_FAULTS
from rocketchaos.harness.language.words import SideRef, as_tuple
from rocketchaos.harness.steps.base import Step
from rocketchaos.harness.steps.network import members

if TYPE_CHECKING:
    from rocketchaos.harness.faults.base import Fault
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext

_KINDS = {"enum": ["all", *NETWORK_FAULTS], "type": "string"}
Faults = Annotated[
    tuple[Literal["all", *NETWORK_FAULTS], ...],  # type: ignore[valid-type]
    BeforeValidator(as_tuple),
    Field(min_length=1),
    WithJsonSchema({"anyOf": [_KINDS, {"type": "array", "items": _KINDS, "minItems": 1}]}),
]
"""Kinds of faults of the network: one, or a list of them."""


class Heal(Step):
    """End faults of the network, and wait until connections are open again; `heal: all` ends them all.

    Faults that no step heals end with the run, after the clients have stopped.
    """

    word = "heal"
    shorthand = "faults"
    example = "heal: {faults: partition, of: b}"

    faults: Faults = Field(description="the kinds of faults, by the words of their steps; or `all`")
    of: SideRef | None = Field(default=None, description="only those in which it is one of the sides")

    def means(self, kind: str) -> bool:
        """Whether it is about faults of this kind."""
        return "all" in self.faults or kind in self.faults

    @property
    def meant(self) -> str:
        """Its subject, for messages."""
        kinds = "fault of the network" if "all" in self.faults else " or ".join(self.faults)
        return kinds if self.of is None else f"{kinds} of {self.of}"

    def whom(self, scenario: Scenario) -> tuple[str, ...]:
        """One of these must be a side, with a group's members instead of the group. Empty: any side."""
        return () if self.of is None else members((self.of,), scenario)

    def run(self, context: StepContext) -> None:
        whom = set(context.variables.resolve(self.whom(context.scenario)))
        meant = [key for key, fault in context.faults.active().items() if self._means(fault, whom)]
        if not meant:
            raise PreconditionNotMet(f"heal: no {self.meant} is in effect")
        for key in reversed(meant):
            context.faults.heal(key)

    def _means(self, fault: Fault, whom: set[str]) -> bool:
        concerned = self.of is None or bool(whom & set(fault.sides))
        return concerned and bool(fault.sides) and self.means(fault.name)
