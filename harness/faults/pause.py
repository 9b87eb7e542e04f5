"""A client's process stands still: SIGSTOP and SIGCONT or, in a container, the engine's pause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.faults.base import Fault

if TYPE_CHECKING:
    from rocketchaos.harness.clients.consumer import Consumer
    from rocketchaos.harness.clients.producer import Producer


class Pause(Fault):
    """The process stands still with its connections open, until it is resumed."""

    name = "pause"

    def __init__(self, client: Consumer | Producer) -> None:
        self._client = client
        self.target = client.name

    def inject(self) -> None:
        self._client.pause()

    def wait_effective(self) -> str:
        """`Worker.pause` returns when the kernel, or the engine, says that the process stands still."""
        return f"{self._client.where} is stopped"

    def heal(self) -> None:
        if self._client.paused:
            self._client.resume()

    def wait_healed(self) -> str:
        """`Worker.resume` returns when the process is no longer stopped."""
        return f"process of {self.target} goes on, or has ended"
