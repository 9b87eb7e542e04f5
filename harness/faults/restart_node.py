"""A server shuts down and comes back, or comes back after it was killed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.cluster.base import Restartable
from rocketchaos.harness.core.errors import HarnessDefect
from rocketchaos.harness.faults.base import Fault

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext


class RestartNode(Fault):
    """The server starts with the store, port and address that it had; over once it is ready again."""

    name = "restart"
    heals = False

    def __init__(self, context: RunContext, node: str) -> None:
        if not isinstance(context.cluster, Restartable):
            raise HarnessDefect(f"nodes of a cluster of kind {context.cluster.kind} can't be restarted")
        self._context, self._cluster = context, context.cluster
        self.target = node
        self._before = context.node(node).process

    def inject(self) -> None:
        self._context.node_is_down(self.target, "restarting")
        self._cluster.restart_node(self.target)
        self._context.node_is_up(self.target)

    def wait_effective(self) -> str:
        """It is another process, which `restart_node` has seen to be ready."""
        node = self._context.node(self.target)
        self._context.record_node(node)
        return f"{self.target} is ready as {node.process}, after {self._before}"

    def heal(self) -> None:
        """Nothing: it is back."""

    def wait_healed(self) -> str:
        """Nothing to wait for."""
        return "nothing to heal"
