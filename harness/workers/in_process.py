"""What clients that live in a process say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketchaos.harness.workers.lease import WorkerProcess
    from rocketchaos.harness.workers.program import InContainer


class InProcess:
    """A client, or its place in a shared process. `_process` is the process in which it lives."""

    @property
    def _process(self) -> WorkerProcess:
        raise NotImplementedError

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def where(self) -> str:
        """`process 4711`, or `container rocketchaos-...`, for messages."""
        return self._process.where

    @property
    def container(self) -> InContainer | None:
        """The container that its process lives in; None: it is a process of this host."""
        return self._process.container

    @property
    def returncode(self) -> int | None:
        """How the process ended; negative: by that signal; None: it hasn't."""
        return self._process.returncode
