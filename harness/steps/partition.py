"""`partition`: packets between two sides are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.steps.network import BetweenStep

if TYPE_CHECKING:
    from rocketchaos.harness.containers.sidecar import Sidecars
    from rocketchaos.harness.faults.base import Fault
    from rocketchaos.harness.faults.rules import Link


class Partition(BetweenStep):
    """Drop what two sides send each other, or what one sends the other (`from`, `to`), until `heal`.

    Neither side learns of it: connections stay open, and a request waits for its answer until a time-out. TCP
    goes on where it was if the partition ends before somebody gives up. Nodes must be up when it begins; a
    side on which there are clients needs `workers: containers`. A broker's slave is a node of its own,
    `broker-a-slave`.
    """

    word = "partition"
    example = "partition: {between: b, and: [broker-a, nameserver]}"

    def fault(self, link: Link, sidecars: Sidecars, target: str) -> Fault:
        from rocketchaos.harness.faults.partition import Partition as PartitionFault

        return PartitionFault(link, sidecars, target)
