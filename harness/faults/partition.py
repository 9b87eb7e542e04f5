"""Packets between two ends of the network are dropped."""

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.faults.network import NetworkFault
from rocketchaos.harness.faults.rules import Command, drop


class Partition(NetworkFault):
    """Nothing passes, in one direction or in both; connections stay open, because neither side notices."""

    name = "partition"

    def rules(self) -> list[Command]:
        return drop(self._link)

    def wait_effective(self) -> str:
        """A connection gets no answer, and the rules have counted what they dropped of it.

        If only incoming packets are dropped, the rules count the answer: outgoing packets have arrived.
        """
        self._must_be("no answer")
        dropped = sum(self._counts())
        if not dropped:
            raise PreconditionNotMet(f"partition of {self.target}: the rules have dropped nothing")
        own = self._link.own.name
        return f"a connection from {own} to {self._address} gets no answer; packets dropped: {dropped}"
