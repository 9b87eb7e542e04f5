"""The commands of a client, one by one, in the order of the requests."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from rocketchaos.harness.workers.protocol import CommandFailed

_With = ParamSpec("_With")
_Result = TypeVar("_Result")


class InTurn:
    """One thread that does everything, until it is closed."""

    def __init__(self, name: str) -> None:
        """`name`: of the thread."""
        self._name = name
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)

    def do(self, work: Callable[_With, _Result], *args: _With.args, **kwargs: _With.kwargs) -> _Result:
        """Do it after whatever was asked for earlier; what it returns, or raises.

        Raises:
            CommandFailed: it is closed, as by a SIGTERM that came between a command and this.
        """
        try:
            future = self._thread.submit(work, *args, **kwargs)
        except RuntimeError as refusal:
            raise CommandFailed(f"the {self._name} is being shut down") from refusal
        return future.result()

    def close(self) -> None:
        """Return when all that was asked for is done; from now on it takes nothing more."""
        self._thread.shutdown()
