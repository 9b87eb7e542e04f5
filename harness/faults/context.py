"""The part of a run that a fault needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rocketchaos.harness.clients.members import Members
    from rocketchaos.harness.cluster.run_servers import Servers


class FaultContext(Protocol):
    """Whom it can be done to."""

    servers: Servers
    members: Members
