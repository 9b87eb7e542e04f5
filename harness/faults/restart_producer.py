"""The producer comes again in a new process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.faults.base import Fault

if TYPE_CHECKING:
    from rocketchaos.harness.clients.producer import Producer


class RestartProducer(Fault):
    """Its client is shut down if it still runs, and another one starts; over once its `start()` has returned."""

    name = "restart"
    heals = False

    def __init__(self, producer: Producer) -> None:
        self._producer = producer
        self.target = producer.name
        self._before = producer.where

    def inject(self) -> None:
        if self._producer.alive:
            self._producer.end()
        self._producer.start()

    def wait_effective(self) -> str:
        """It is another process, and its client has started."""
        if self._producer.where == self._before:
            raise PreconditionNotMet(f"restart: {self.target} is still {self._before}")
        return f"{self.target} is {self._producer.where}, after {self._before}"

    def heal(self) -> None:
        """Nothing: it is back."""

    def wait_healed(self) -> str:
        """Nothing to wait for."""
        return "nothing to heal"
