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

    Neither side notices: connections stay open, and a request waits for its answer until a timeout. If the
    partition ends before a side gives up, TCP continues where it was. Nodes must be up when it begins; a side
    with clients needs `workers: containers`. A broker's slave is a separate node, `broker-a-slave`. It runs
    with `--on containers` alone.
    """

    word = "partition"
    example = "partition: {between: b, and: [broker-a, nameserver]}"

    def fault(self, link: Link, sidecars: Sidecars, target: str) -> Fault:
        from rocketchaos.harness.faults.partition import Partition as PartitionFault

        return PartitionFault(link, sidecars, target)
