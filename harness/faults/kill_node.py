"""SIGKILL of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.cluster.base import Killable
from rocketchaos.harness.core.errors import HarnessDefect
from rocketchaos.harness.faults.base import Fault

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext


class KillNode(Fault):
    """The server is gone at once, with what it hadn't written; a `restart` step starts it again."""

    name = "kill"
    heals = False

    def __init__(self, context: RunContext, node: str) -> None:
        if not isinstance(context.cluster, Killable):
            raise HarnessDefect(f"nodes of a cluster of kind {context.cluster.kind} can't be killed")
        self._context, self._cluster = context, context.cluster
        self.target = node

    def inject(self) -> None:
        self._context.node_is_down(self.target, "killed")
        self._cluster.kill_node(self.target)

    def wait_effective(self) -> str:
        """The process has been reaped."""
        node = self._context.node(self.target)
        return f"{node.process} of {self.target} ended by SIGKILL"

    def heal(self) -> None:
        """Nothing: a killed server stays dead."""

    def wait_healed(self) -> str:
        """Nothing to wait for."""
        return "nothing to heal"
