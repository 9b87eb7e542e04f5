"""The common part of faults between two ends of the network: rules, and the proof that they take effect."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

from rocketchaos.harness.core.errors import EnvironmentNotReady, PreconditionNotMet
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.faults.base import Fault
from rocketchaos.harness.faults.rules import CHAIN_PREFIX, Command, Link, counts, put_up, take_down
from rocketchaos.harness.faults.sidecar_trials import Trials

if TYPE_CHECKING:
    from rocketchaos.harness.containers.sidecar import Sidecar, Sidecars

TRIAL_LIMIT_S = 1.0
"""A connection on a network of containers takes less than a millisecond; a lost packet is sent again after 1 s."""
HEALED_LIMIT_S = 15.0

_numbers = itertools.count(1)


class NetworkFault(Fault):
    """Rules in the network of one container about its traffic with another, for as long as it lasts."""

    def __init__(self, link: Link, sidecars: Sidecars, target: str) -> None:
        """
        Args:
            link: between whom.
            sidecars: of the cluster.
            target: how the two are written: `b and broker-a`, `b to broker-a`.
        """
        self.target = target
        self.sides = (link.own.name, link.peer.name)
        self._link, self._sidecars = link, sidecars
        self._chain = f"{CHAIN_PREFIX}{next(_numbers)}"
        self._sidecar: Sidecar | None = None
        self._up = False

    @abstractmethod
    def rules(self) -> list[Command]:
        """The arguments of iptables."""

    def inject(self) -> None:
        """Put up the rules, where without them everything passes."""
        sidecar = self._sidecar = self._sidecars.of(self._link.own)
        before = self._connect()
        if before != "connected":
            raise PreconditionNotMet(
                f"{self.name}: {self._link.own.name} doesn't reach {self._link.peer.name} even without it: "
                f"{before}"
            )
        self._up = True
        sidecar.iptables(*put_up(self._chain, self.rules()))

    def heal(self) -> None:
        """Take down the rules, unless they went with the network that had them."""
        if not self._up:
            return
        if self._sidecar is not None and self._sidecars.is_current(self._sidecar):
            self._sidecar.iptables(*take_down(self._chain))
        elif self._sidecars.runs(self._link.own):
            self._up = False
            raise PreconditionNotMet(
                f"{self.name}: {self._link.own.name} was restarted meanwhile, and its network came back without it"
            )
        self._up = False

    def wait_healed(self) -> str:
        """A connection is made again."""
        own, peer = self._link.own, self._link.peer
        gone = [place.name for place in (own, peer) if not self._sidecars.runs(place)]
        if gone:
            return f"the rules are gone; {' and '.join(gone)} doesn't run"
        last = self._until(lambda: self._connect(), "connected", HEALED_LIMIT_S)
        if last != "connected":
            raise PreconditionNotMet(
                f"{self.name}: {own.name} doesn't reach {peer.name} {HEALED_LIMIT_S:.0f} s after the rules are "
                f"gone: {last}"
            )
        return f"the rules are gone, and {own.name} reaches {peer.name} at {self._address}"

    def cleanup(self) -> None:
        """Nothing: the sidecar stays for the next fault, and goes with the cluster."""

    # For the kinds of it -------------------------------------------------------------------------------

    @property
    def _address(self) -> str:
        return f"{self._link.peer.addresses[0]}:{self._link.peer.port}"

    @property
    def _trials(self) -> Trials:
        assert self._sidecar is not None
        return Trials(self._sidecar)

    def _connect(self) -> str:
        peer = self._link.peer
        assert peer.port is not None
        return self._trials.connect(peer.addresses[0], peer.port, TRIAL_LIMIT_S)

    def _counts(self) -> list[int]:
        """The packets that each rule has met."""
        assert self._sidecar is not None
        return counts(self._sidecar.iptables(("-nvxL", self._chain)))

    def _until(self, observe: Callable[[], str], wanted: str, limit_s: float) -> str:
        """Look until the answer is the wanted one; the last answer."""
        try:
            return look_until(observe, lambda seen: seen == wanted, limit_s, 0.1)
        except EnvironmentNotReady as error:
            return error.message

    def _must_be(self, wanted: str) -> None:
        """A connection is tried until it ends as it must while the fault lasts."""
        seen = self._until(self._connect, wanted, 5 * TRIAL_LIMIT_S)
        if seen != wanted:
            raise PreconditionNotMet(
                f"{self.name}: a connection from {self._link.own.name} to {self._link.peer.name} "
                f"({self._address}) must end with `{wanted}`, and ended with `{seen}`"
            )
