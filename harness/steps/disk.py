"""The common part of the steps on a broker's disk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from rocketchaos.harness.language.words import BrokerRef
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext


class DiskStep(Step):
    """Something that is done to the disk of one broker."""

    shorthand = "broker"

    broker: BrokerRef = Field(description="the broker")

    def acts_on(self) -> tuple[str, ...]:
        return (self.broker,)

    def field_of(self, index: int) -> tuple[str | int, ...]:
        del index  # there is one
        return ("broker",)

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        del scenario  # whichever broker it is
        yield "fill a disk"

    def is_full(self, context: StepContext) -> bool:
        """Whether a step has filled it, and none has freed it."""
        return self.fault in context.faults.active()

    @property
    def fault(self) -> str:
        """By which name a run knows the fault."""
        from rocketchaos.harness.faults.fill_disk import FillDisk

        return f"{FillDisk.name} {self.broker}"
