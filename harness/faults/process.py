"""The common part of faults of processes: a client's and a server's."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rocketchaos.harness.faults.base import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketchaos.harness.faults.context import FaultContext


class ClientFault(Fault):
    """Something that is done to the process of a consumer or of the producer."""

    def __init__(self, context: FaultContext, name: str) -> None:
        self._client = context.members.client(name)
        self.target = self._client.name


class NodeFault(Fault):
    """Something that is done to a server's process."""

    def __init__(self, context: FaultContext, name: str) -> None:
        self._context = context
        self.target = name


class OverOnceEffective(Fault):
    """There is nothing to heal; `start` or `restart` begins a new process."""

    heals = False

    def heal(self) -> None:
        """Nothing."""

    def wait_healed(self) -> str:
        """Nothing to wait for."""
        return "nothing to heal"


def fault_class(word: str, *, of_node: bool = False) -> type[Any]:
    """What does this fault to clients (or to the network), or to nodes: `Kill`, `KillNode` in `kill.py`."""
    found: type[Any] = getattr(_module(word), word.title().replace("-", "") + ("Node" if of_node else ""))
    return found


def consumer_action(word: str) -> Callable[[Any], None]:
    """A step's act on a consumer that has events of its own: `of_consumer` in `stop.py`."""
    found: Callable[[Any], None] = _module(word).of_consumer
    return found


def _module(word: str) -> Any:
    return import_module(f"rocketchaos.harness.faults.{word.replace('-', '_')}")
