"""The part of a run that a probe needs, or a condition of `settle`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rocketchaos.harness.clients.admin import Admin
    from rocketchaos.harness.clients.consumer import Consumer
    from rocketchaos.harness.clients.hand_made import HandMadeClients
    from rocketchaos.harness.clients.members import Members
    from rocketchaos.harness.clients.producer import Producer
    from rocketchaos.harness.clients.variables import Variables
    from rocketchaos.harness.cluster.run_servers import Servers
    from rocketchaos.harness.core.history import History
    from rocketchaos.harness.core.names import Names
    from rocketchaos.harness.faults.base import Faults
    from rocketchaos.harness.probes.logs_probe import Logs
    from rocketchaos.harness.probes.observations import Observations
    from rocketchaos.harness.scenario.model import Scenario


class ProbeContext(Protocol):
    """The run's scenario, servers and clients, and the history into which a probe writes what it saw."""

    scenario: Scenario
    names: Names
    """The scenario's names of topics and groups, and those on the brokers."""
    history: History
    observations: Observations
    admin: Admin
    servers: Servers
    """Name servers, brokers and proxy, and which of them can be asked."""
    members: Members
    """Who is in which group."""
    variables: Variables
    producer: Producer
    consumers: dict[str, Consumer]
    """All of the scenario's, started or not, by name."""
    hand_made: HandMadeClients
    faults: Faults
    logs: Logs

    def check_alive(self) -> None:
        """Raise if anything died that should live, or if the run, or this branch of it, is to end.

        Raises:
            EnvironmentNotReady, HarnessDefect: a worker or a server died.
            KeyboardInterrupt: the run was interrupted.
            BranchEnded: this is a branch of a `parallel` of which another one failed.
        """

    def now_ns(self) -> int:
        """CLOCK_MONOTONIC, as events have it."""
