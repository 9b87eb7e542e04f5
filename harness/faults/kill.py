"""SIGKILL of a client's process, a consumer's or the producer's, or of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.cluster.base import Killable
from rocketchaos.harness.core.errors import HarnessDefect, PreconditionNotMet
from rocketchaos.harness.faults.process import ClientFault, NodeFault, OverOnceEffective

if TYPE_CHECKING:
    from rocketchaos.harness.faults.context import FaultContext


class Kill(ClientFault, OverOnceEffective):
    """The process is gone at once."""

    name = "kill"

    def inject(self) -> None:
        self._client.kill()

    def wait_effective(self) -> str:
        """The process has been reaped, with SIGKILL as the cause."""
        if self._client.alive:
            raise PreconditionNotMet(f"kill: the {self._client.where} of {self.target} is still there")
        return f"{self._client.where} ended by signal {-(self._client.returncode or 0)}"


class KillNode(NodeFault, OverOnceEffective):
    """The server is gone at once, with what it hadn't written."""

    name = "kill"

    def __init__(self, context: FaultContext, name: str) -> None:
        super().__init__(context, name)
        if not isinstance(context.servers.cluster, Killable):
            raise HarnessDefect(f"nodes of a cluster of kind {context.servers.cluster.kind} can't be killed")
        self._cluster = context.servers.cluster

    def inject(self) -> None:
        self._context.servers.note_down(self.target, "killed")
        self._cluster.kill_node(self.target)

    def wait_effective(self) -> str:
        """The process has been reaped."""
        return f"{self._context.servers.node(self.target).process} of {self.target} ended by SIGKILL"
