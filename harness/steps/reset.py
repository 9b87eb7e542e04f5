"""`reset`: connections between two sides are reset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import model_validator

from rocketchaos.harness.steps.network import BetweenStep

if TYPE_CHECKING:
    from rocketchaos.harness.containers.sidecar import Sidecars
    from rocketchaos.harness.faults.base import Fault
    from rocketchaos.harness.faults.rules import Link


class Reset(BetweenStep):
    """Answer everything that two sides send each other over TCP with a reset, until `heal`.

    An open connection ends with the next packet on it, and no new one can be opened. Sides as in `partition`,
    always both directions, because a reset has to reach the sender. It runs with `--on containers` alone.
    """

    word = "reset"
    example = "reset: {between: b, and: broker-a}"

    @model_validator(mode="after")
    def _both_ways(self) -> Reset:
        if self.one_way:
            raise ValueError("a reset acts in both directions: give `between` and `and`")
        return self

    def fault(self, link: Link, sidecars: Sidecars, target: str) -> Fault:
        from rocketchaos.harness.faults.reset import Reset as ResetFault

        return ResetFault(link, sidecars, target)
