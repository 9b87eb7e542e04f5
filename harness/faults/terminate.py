"""SIGTERM of a client's process, a consumer's or the producer's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.faults.base import Fault

if TYPE_CHECKING:
    from rocketchaos.harness.clients.consumer import Consumer
    from rocketchaos.harness.clients.producer import Producer


class Terminate(Fault):
    """The process shuts its client down and ends; a `start` or `restart` step begins a new one.

    There is nothing to heal.
    """

    name = "terminate"
    heals = False

    def __init__(self, client: Consumer | Producer) -> None:
        self._client = client
        self.target = client.name

    def inject(self) -> None:
        self._client.terminate()

    def wait_effective(self) -> str:
        """The process has been reaped, and had ended by itself, with exit code 143.

        A consumer is written down as stopped then.
        """
        self._client.wait_terminated()
        return f"{self._client.where} has shut its client down and ended with exit code {self._client.returncode}"

    def heal(self) -> None:
        """Nothing: a terminated process stays away."""

    def wait_healed(self) -> str:
        """Nothing to wait for."""
        return "nothing to heal"
