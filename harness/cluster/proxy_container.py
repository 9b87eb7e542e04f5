"""The proxy of 5.x as a container."""

from __future__ import annotations

from typing import ClassVar

from harness.cluster.server_container import ServerContainer

_ATTEMPTS = 3


class ProxyContainer(ServerContainer):
    """A proxy in mode CLUSTER, started once the brokers are registered.

    First of all it has a broker create a topic, and where the broker doesn't answer in time it ends with exit code
    1 (`HeartbeatSyncer`, `ProxyStartup`; 5.5.0), which a busy machine brings about. Then it is started again.
    """

    says: ClassVar[str] = "proxy startup successfully"
    _starts = 0

    def start(self) -> None:
        """See `ServerContainer`."""
        self._starts += 1
        super().start()

    def tries_again(self) -> bool:
        """Start it once more, twice at most."""
        if self._starts >= _ATTEMPTS:
            return False
        self.start()
        return True
