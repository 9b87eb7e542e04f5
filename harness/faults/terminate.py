"""SIGTERM of a client's process, a consumer's or the producer's."""

from __future__ import annotations

from rocketchaos.harness.faults.process import ClientFault, OverOnceEffective


class Terminate(ClientFault, OverOnceEffective):
    """The process shuts its client down and ends."""

    name = "terminate"

    def inject(self) -> None:
        self._client.terminate()

    def wait_effective(self) -> str:
        """The process has been reaped, and had ended by itself, with exit code 143.

        A consumer is written down as stopped then.
        """
        self._client.wait_terminated()
        return f"{self._client.where} has shut its client down and ended with exit code {self._client.returncode}"
