"""How programs of the user's are observed, as the clients of a run need it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from rocketchaos.harness.workers.lease import WorkerProcess

Begin = Callable[[WorkerProcess, float], Mapping[str, Any]]
"""With the limit in seconds."""
Connections = Sequence[Mapping[str, Any]]
"""Those that a broker lists of a group, each with `client_id` and `address`."""
ClientAmong = Callable[[WorkerProcess, Connections], str | None]
"""The client id of a program among connections; None if none of them is its own."""


class Entries(Protocol):
    """What programs show of what they have handled, other than by their lines."""

    def read(self) -> None:
        """Write all that is there now into the history."""

    def seen(self, consumer: str) -> Mapping[str, Any]:
        """How many `entries` this consumer has shown, `where`, and the `last` one; and the `failure` of a call."""
