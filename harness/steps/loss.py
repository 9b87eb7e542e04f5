"""`loss`: packets between two sides are lost by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from rocketchaos.harness.steps.network import BetweenStep

if TYPE_CHECKING:
    from rocketchaos.harness.containers.sidecar import Sidecars
    from rocketchaos.harness.faults.base import Fault
    from rocketchaos.harness.faults.rules import Link


class Loss(BetweenStep):
    """Drop each packet that two sides send each other, or that one sends the other, with a probability.

    TCP resends what was lost, so everything arrives late; with a high loss connections end. Sides as in
    `partition`, and as that it runs with `--on containers` alone.
    """

    word = "loss"
    example = "loss: {from: broker-a, to: b, percent: 30}"

    percent: int = Field(ge=1, le=99, description="the percentage of packets dropped, on average")

    def fault(self, link: Link, sidecars: Sidecars, target: str) -> Fault:
        from rocketchaos.harness.faults.loss import Loss as LossFault

        return LossFault(link, sidecars, target, self.percent)
