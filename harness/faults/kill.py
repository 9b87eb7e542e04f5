"""SIGKILL of a consumer's process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import PreconditionNotMet
from harness.faults.base import Fault

if TYPE_CHECKING:
    from harness.clients.consumer import Consumer


class Kill(Fault):
    """The process is gone at once; a `start` step begins a new one. There is nothing to heal."""

    name = "kill"
    heals = False

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self.target = consumer.name

    def inject(self) -> None:
        self._consumer.kill()

    def wait_effective(self) -> str:
        """The process has been reaped, with SIGKILL as the cause."""
        if self._consumer.alive:
            raise PreconditionNotMet(f"kill: the {self._consumer.where} of {self.target} is still there")
        return f"{self._consumer.where} ended by signal {-(self._consumer.returncode or 0)}"

    def heal(self) -> None:
        """Nothing: a killed process stays dead."""

    def wait_healed(self) -> str:
        """Nothing to wait for."""
        return "nothing to heal"
