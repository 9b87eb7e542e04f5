"""`fill-disk`: a broker takes its disk for full."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.steps.disk import DiskStep

if TYPE_CHECKING:
    from rocketchaos.harness.steps.context import StepContext


class FillDisk(DiskStep):
    """Restart a broker as one whose disk is full: it refuses new messages, and delivers those that it has.

    It refuses messages from producers, and retries sent back by consumers, until `free-disk`, also after a
    restart. The step sets `rocketmq.broker.diskSpaceWarningLevelRatio`, the share of the disk above which
    brokers refuse messages (`CleanCommitLogService`, 4.9.4). 5.x accepts no ratio below 35 %, so an emptier
    disk can't count as full there.
    """

    word = "fill-disk"
    rocketmq = "<5"
    moves: ClassVar = (("running",), None)
    example = "fill-disk: broker-a"

    def run(self, context: StepContext) -> None:
        from rocketchaos.harness.faults.fill_disk import FillDisk as FillDiskFault

        if self.is_full(context):
            raise PreconditionNotMet(f"{self.word}: the disk of {self.broker} is full already")
        context.faults.inject(FillDiskFault(context, self.broker))
