"""`free-disk`: a broker's disk is no longer full."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.steps.disk import DiskStep

if TYPE_CHECKING:
    from rocketchaos.harness.steps.context import StepContext


class FreeDisk(DiskStep):
    """Restart a broker after `fill-disk`, so that it accepts messages again."""

    word = "free-disk"
    moves: ClassVar = (("running", "stopped", "killed"), "running")
    example = "free-disk: broker-a"

    def run(self, context: StepContext) -> None:
        if not self.is_full(context):
            raise PreconditionNotMet(f"{self.word}: the disk of {self.broker} is not full")
        context.faults.heal(self.fault)
