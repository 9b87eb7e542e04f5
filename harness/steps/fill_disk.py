"""`fill-disk`: a broker takes its disk for full."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.steps.disk import DiskStep

if TYPE_CHECKING:
    from rocketchaos.harness.steps.context import StepContext


class FillDisk(DiskStep):
    """Start a broker anew as one whose disk is full: it refuses messages, and hands out those that it has.

    It refuses what is sent, and what is to come again, until `free-disk`, also after a restart. It is done by
    `rocketmq.broker.diskSpaceWarningLevelRatio`, the share of a disk beyond which brokers refuse messages
    (`CleanCommitLogService`, 4.9.4). 5.x takes none below 35 %, so that there an empty disk can't be a full
    one.
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
