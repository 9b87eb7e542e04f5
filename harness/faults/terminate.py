"""SIGTERM of a client's process, a consumer's or the producer's."""

from rocketchaos.harness.faults.process import ClientFault, OverOnceEffective


class Terminate(ClientFault, OverOnceEffective):
    """The process shuts its client down and ends."""

    name = "terminate"

    def inject(self) -> None:
        self._client.terminate()

    def wait_effective(self) -> str:
        """The process has been reaped, and had ended by itself, with exit code 143.

        A user's program ends with any code, or by the signal itself.
        A consumer is written down as stopped then.
        """
        self._client.wait_terminated()
        code = self._client.returncode or 0
        if code < 0:
            return f"{self._client.where} was ended by SIGTERM, which it doesn't handle"
        return f"{self._client.where} has shut its client down and ended with exit code {code}"
