"""SIGKILL of a client's process, a consumer's or the producer's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.faults.base import Fault

if TYPE_CHECKING:
    from rocketchaos.harness.clients.consumer import Consumer
    from rocketchaos.harness.clients.producer import Producer


class Kill(Fault):
    """The process is gone at once; a `start` or `restart` step begins a new one. There is nothing to heal."""

    name = "kill"
    heals = False

    def __init__(self, client: Consumer | Producer) -> None:
        self._client = client
        self.target = client.name

    def inject(self) -> None:
        self._client.kill()

    def wait_effective(self) -> str:
        """The process has been reaped, with SIGKILL as the cause."""
        if self._client.alive:
            raise PreconditionNotMet(f"kill: the {self._client.where} of {self.target} is still there")
        return f"{self._client.where} ended by signal {-(self._client.returncode or 0)}"

    def heal(self) -> None:
        """Nothing: a killed process stays dead."""

    def wait_healed(self) -> str:
        """Nothing to wait for."""
        return "nothing to heal"
