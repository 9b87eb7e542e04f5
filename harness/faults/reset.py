"""Connections between two ends of the network are reset."""

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.faults.network import NetworkFault
from rocketchaos.harness.faults.rules import Command, reset


class Reset(NetworkFault):
    """Who sends over TCP gets a reset: open connections end with the next packet, and none can be made."""

    name = "reset"

    def rules(self) -> list[Command]:
        return reset(self._link)

    def wait_effective(self) -> str:
        """A connection is refused, and by the rules: they have counted it."""
        self._must_be("refused")
        _, *answered = self._counts()
        if not sum(answered):
            raise PreconditionNotMet(f"reset of {self.target}: the rules have answered nothing")
        return (
            f"a connection from {self._link.own.name} to {self._address} is refused; packets answered by a reset: "
            f"{sum(answered)}"
        )
