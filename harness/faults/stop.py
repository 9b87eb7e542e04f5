"""A consumer or a server shuts down gracefully, and stays down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.cluster.base import Stoppable
from rocketchaos.harness.core.errors import HarnessDefect
from rocketchaos.harness.faults.process import NodeFault, OverOnceEffective

if TYPE_CHECKING:
    from rocketchaos.harness.clients.consumer import Consumer
    from rocketchaos.harness.faults.context import FaultContext


def of_consumer(consumer: Consumer) -> None:
    """Shut its client down."""
    consumer.stop()


class StopNode(NodeFault, OverOnceEffective):
    """The server leaves as RocketMQ does on SIGTERM, with all that it had written."""

    name = "stop"

    def __init__(self, context: FaultContext, name: str) -> None:
        super().__init__(context, name)
        if not isinstance(context.servers.cluster, Stoppable):
            raise HarnessDefect(f"nodes of a cluster of kind {context.servers.cluster.kind} can't be stopped")
        self._cluster = context.servers.cluster

    def inject(self) -> None:
        self._context.servers.note_down(self.target, "stopped")
        self._cluster.stop_node(self.target)

    def wait_effective(self) -> str:
        """`stop_node` returns when the process is gone."""
        return f"{self._context.servers.node(self.target).process} of {self.target} has shut down"
