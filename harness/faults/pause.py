"""A process stands still: SIGSTOP and SIGCONT or, in a container, the engine's pause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.cluster.base import Pausable
from rocketchaos.harness.core.errors import HarnessDefect
from rocketchaos.harness.faults.process import ClientFault, NodeFault

if TYPE_CHECKING:
    from rocketchaos.harness.faults.context import FaultContext


class Pause(ClientFault):
    """The process stands still with its connections open, until it is resumed."""

    name = "pause"

    def inject(self) -> None:
        self._client.pause()

    def wait_effective(self) -> str:
        """`Worker.pause` returns when the kernel, or the engine, says that the process stands still."""
        return f"{self._client.where} is stopped"

    @property
    def is_past(self) -> bool:
        return not self._client.paused

    def heal(self) -> None:
        if self._client.paused:
            self._client.resume()

    def wait_healed(self) -> str:
        """`Worker.resume` returns when the process is no longer stopped."""
        return f"process of {self.target} goes on, or has ended"


class PauseNode(NodeFault):
    """The server stands still with its connections open: it accepts and answers nothing, until it is resumed."""

    name = "pause"

    def __init__(self, context: FaultContext, name: str) -> None:
        super().__init__(context, name)
        if not isinstance(context.servers.cluster, Pausable):
            raise HarnessDefect(f"nodes of a cluster of kind {context.servers.cluster.kind} can't be paused")
        self._cluster = context.servers.cluster

    def inject(self) -> None:
        self._context.servers.note_down(self.target, "paused")
        self._cluster.pause_node(self.target)

    def wait_effective(self) -> str:
        """`pause_node` returns when the kernel says that the process is stopped."""
        return f"{self._context.servers.node(self.target).process} of {self.target} is stopped"

    @property
    def is_past(self) -> bool:
        return self._context.servers.down.get(self.target) != "paused"

    def heal(self) -> None:
        """Let it go on, unless it was killed meanwhile."""
        if not self.is_past:
            self._cluster.resume_node(self.target)
            self._context.servers.note_up(self.target)

    def wait_healed(self) -> str:
        """`resume_node` returns when the process is no longer stopped."""
        return f"{self._context.servers.node(self.target).process} of {self.target} goes on"
