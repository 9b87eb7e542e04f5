"""A client or a server comes again in a new process, be it after it was killed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.cluster.base import Restartable
from rocketchaos.harness.core.errors import HarnessDefect, NodeEnded, PreconditionNotMet
from rocketchaos.harness.faults.process import NodeFault, OverOnceEffective

if TYPE_CHECKING:
    from rocketchaos.harness.clients.consumer import Consumer
    from rocketchaos.harness.faults.context import FaultContext


def of_consumer(consumer: Consumer) -> None:
    """Shut its client down where it runs, and start another one."""
    if consumer.started:
        consumer.stop()
    consumer.start()


class Restart(OverOnceEffective):
    """A producer's client is shut down if it still runs, and another one starts; over once that has started."""

    name = "restart"

    def __init__(self, context: FaultContext, name: str, *, may_be_refused: bool = False) -> None:
        del may_be_refused  # of servers: a producer has it where it is declared
        self._producer = context.members.producer(name)
        self.target = self._producer.name
        self._before = self._producer.where

    def inject(self) -> None:
        if self._producer.alive:
            self._producer.end()
        self._producer.start()

    def wait_effective(self) -> str:
        """It is another process, and its client has started."""
        if self._producer.where == self._before:
            raise PreconditionNotMet(f"restart: {self.target} is still {self._before}")
        return f"{self.target} is {self._producer.where}, after {self._before}"


class RestartNode(NodeFault, OverOnceEffective):
    """The server starts with the store, port and address that it had; over once it is ready again.

    With `may_be_refused` it is over, too, once the server has ended as it started; it stays away then.
    """

    name = "restart"

    def __init__(self, context: FaultContext, name: str, *, may_be_refused: bool = False) -> None:
        super().__init__(context, name)
        self._may_be_refused = may_be_refused
        self._refusal: NodeEnded | None = None
        if not isinstance(context.servers.cluster, Restartable):
            raise HarnessDefect(
                f"nodes of a cluster of kind {context.servers.cluster.kind} can't be restarted"
            )
        self._cluster = context.servers.cluster
        self._before = context.servers.node(name).process

    def inject(self) -> None:
        self._context.servers.note_down(self.target, "restarting")
        try:
            self._cluster.restart_node(self.target)
        except NodeEnded as refusal:
            if not self._may_be_refused:
                # The end of its output is long, and tells what it shut down, not why.
                way_out = (
                    f"If it may end so, write `restart: {{targets: {self.target}, may_be_refused: true}}`. "
                    "Its log is in the run folder, logs/."
                )
                raise NodeEnded(refusal.message, way_out, refusal.reason) from None
            self._refusal = refusal
            self._cluster.excuse_end(self.target)
        else:
            self._context.servers.note_up(self.target)

    def wait_effective(self) -> str:
        """It is another process, which `restart_node` has seen to be ready."""
        if self._refusal is not None:
            return f"{self.target} ended as it started: {self._refusal.reason}"
        node = self._context.servers.node(self.target)
        self._context.servers.record(node)
        return f"{self.target} is ready as {node.process}, after {self._before}"
