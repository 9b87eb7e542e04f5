"""Which worker has which address on the network of a cluster."""

import threading
from collections import deque

from rocketchaos.harness.containers.launch import Subnet
from rocketchaos.harness.core.errors import EnvironmentNotReady

FIRST = 32
"""Those before are the servers', which keep theirs while they are down: the engine doesn't reserve them."""


class Addresses:
    """Fixed addresses for workers; one that is given back comes round again as late as can be.

    So a partition of a worker that is gone, or a connection that a broker still believes in, hits no other worker.
    """

    def __init__(self, subnet: Subnet) -> None:
        self._network = subnet.addresses
        self._lock = threading.Lock()
        # The last one is for broadcasts.
        self._free = deque(subnet.address(number) for number in range(FIRST, self._network.num_addresses - 1))
        self._count = len(self._free)

    def take(self) -> str:
        """A free address.

        Raises:
            EnvironmentNotReady: all are in use.
        """
        with self._lock:
            if not self._free:
                raise EnvironmentNotReady(
                    f"all {self._count} addresses for workers on the network {self._network} are in use",
                    "Let fewer runs go in parallel: `--parallel N`.",
                )
            return self._free.popleft()

    def give_back(self, address: str) -> None:
        """Its container is gone."""
        with self._lock:
            self._free.append(address)
