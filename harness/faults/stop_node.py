"""A server shuts down in good order, and stays away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.cluster.base import Stoppable
from rocketchaos.harness.core.errors import HarnessDefect
from rocketchaos.harness.faults.base import Fault

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext


class StopNode(Fault):
    """The server leaves as RocketMQ does on SIGTERM, with all that it had written; `restart` starts it again."""

    name = "stop"
    heals = False

    def __init__(self, context: RunContext, node: str) -> None:
        if not isinstance(context.cluster, Stoppable):
            raise HarnessDefect(f"nodes of a cluster of kind {context.cluster.kind} can't be stopped")
        self._context, self._cluster = context, context.cluster
        self.target = node

    def inject(self) -> None:
        self._context.node_is_down(self.target, "stopped")
        self._cluster.stop_node(self.target)

    def wait_effective(self) -> str:
        """`stop_node` returns when the process is gone."""
        node = self._context.node(self.target)
        return f"{node.process} of {self.target} has shut down"

    def heal(self) -> None:
        """Nothing: a stopped server stays away."""

    def wait_healed(self) -> str:
        """Nothing to wait for."""
        return "nothing to heal"
