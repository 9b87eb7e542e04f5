"""SIGSTOP and SIGCONT of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.cluster.base import Pausable
from rocketchaos.harness.core.errors import HarnessDefect
from rocketchaos.harness.faults.base import Fault

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext


class PauseNode(Fault):
    """The server stands still with its connections open: it accepts and answers nothing, until it is resumed."""

    name = "pause"

    def __init__(self, context: RunContext, node: str) -> None:
        if not isinstance(context.cluster, Pausable):
            raise HarnessDefect(f"nodes of a cluster of kind {context.cluster.kind} can't be paused")
        self._context, self._cluster = context, context.cluster
        self.target = node

    def inject(self) -> None:
        self._context.node_is_down(self.target, "paused")
        self._cluster.pause_node(self.target)

    def wait_effective(self) -> str:
        """`pause_node` returns when the kernel says that the process is stopped."""
        return f"{self._context.node(self.target).process} of {self.target} is stopped"

    def heal(self) -> None:
        """Let it go on, unless it was killed meanwhile."""
        if self._context.down.get(self.target) == "paused":
            self._cluster.resume_node(self.target)
            self._context.node_is_up(self.target)

    def wait_healed(self) -> str:
        """`resume_node` returns when the process is no longer stopped."""
        return f"{self._context.node(self.target).process} of {self.target} goes on"
