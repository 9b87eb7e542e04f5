"""Packets between two ends of the network are lost by chance."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.faults.network import TRIAL_LIMIT_S, NetworkFault
from rocketchaos.harness.faults.rules import Command, Link, lose

if TYPE_CHECKING:
    from rocketchaos.harness.containers.sidecar import Sidecars

_KNOCKS, _KNOCK_LIMIT_S = 100, 0.25
_LIMIT_S = 60.0
_SIGMAS = 5
"""A right rule is found wrong once in 1.7 million times."""
_EXPECTED = 20
"""Losses to be expected among the packets looked at: that there is none then has a chance of 2 in a billion."""


class Loss(NetworkFault):
    """Each packet is dropped with a probability, in one direction or in both."""

    name = "loss"

    def __init__(self, link: Link, sidecars: Sidecars, target: str, percent: int) -> None:
        super().__init__(link, sidecars, target)
        self._percent = percent

    def rules(self) -> list[Command]:
        return lose(self._link, self._percent)

    def wait_effective(self) -> str:
        """Of enough packets in each direction a share was dropped that agrees with the probability.

        Whatever passes is counted. To have enough of it, a port at which nobody listens is knocked at: the
        peer's kernel answers, and its server sees nothing.
        """
        needed = max(200, math.ceil(_EXPECTED * 100 / self._percent))
        end = time.monotonic() + _LIMIT_S
        while True:
            self._trials.knock(self._link.peer.addresses[0], _KNOCKS, _KNOCK_LIMIT_S)
            seen = self._by_direction()
            if all(dropped + passed >= needed for dropped, passed in seen.values()):
                break
            if time.monotonic() > end:
                raise PreconditionNotMet(f"loss: too few packets within {_LIMIT_S:.0f} s: {_in_words(seen)}")
        wrong = {
            direction: found for direction, found in seen.items() if not agrees(*found, self._percent / 100)
        }
        if wrong:
            raise PreconditionNotMet(
                f"loss of {self.target}: {self._percent} % should be dropped, and {_in_words(wrong)}"
            )
        return _in_words(seen)

    def wait_healed(self) -> str:
        """Connections are made again, and every knock is answered."""
        proof = super().wait_healed()
        if not all(self._sidecars.runs(place) for place in (self._link.own, self._link.peer)):
            return proof
        answered = self._trials.knock(self._link.peer.addresses[0], _KNOCKS, TRIAL_LIMIT_S)
        if answered < _KNOCKS:
            raise PreconditionNotMet(
                f"loss of {self.target}: the rules are gone, and {_KNOCKS - answered} of {_KNOCKS} connections "
                "still get no answer"
            )
        return f"{proof}; {answered} of {_KNOCKS} connections were answered at once"

    def _by_direction(self) -> dict[str, tuple[int, int]]:
        """Packets dropped and passed, by direction; each address has two rules."""
        met, addresses = self._counts(), len(self._link.peer.addresses)
        directions = [
            f"{item.name} to {other.name}"
            for item, other, wanted in (
                (self._link.own, self._link.peer, self._link.outgoing),
                (self._link.peer, self._link.own, self._link.incoming),
            )
            if wanted
        ]
        parts = [met[2 * addresses * index : 2 * addresses * (index + 1)] for index in range(len(directions))]
        return {
            direction: (sum(part[0::2]), sum(part[1::2]))
            for direction, part in zip(directions, parts, strict=True)
        }


def agrees(dropped: int, passed: int, probability: float) -> bool:
    """Whether this number may be by chance: within five standard deviations of a binomial distribution."""
    total = dropped + passed
    expected = total * probability
    return dropped > 0 and abs(dropped - expected) <= _SIGMAS * math.sqrt(expected * (1 - probability)) + 1


def _in_words(seen: dict[str, tuple[int, int]]) -> str:
    return "; ".join(
        f"{direction}: {dropped} of {dropped + passed} packets dropped"
        for direction, (dropped, passed) in seen.items()
    )
