"""RocketMQ's own tools, of the broker's version, in a worker."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rocketchaos.harness.clients.resident_tools import ResidentTools
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.names import new_token
from rocketchaos.harness.workers.worker import Worker

_START_LIMIT_S = 30.0
_MARGIN_S = 15.0
"""A worker that is alive answers within this, on top of what it waits for itself."""


class Tools:
    """The `admin` worker. It starts with its first request, unless it begins before."""

    def __init__(
        self,
        spawn: Callable[[], Worker],
        nameserver: str,
        access: Mapping[str, Any] | None = None,
        resident: Path | None = None,
    ) -> None:
        """
        Args:
            spawn: starts its process.
            nameserver: of the cluster.
            access: the keys with which it signs its requests (`access_of`); None: it signs none.
            resident: the socket of tools that the cluster may have already.
        """
        self._spawn = spawn
        self._resident = None if resident is None else ResidentTools(resident)
        self._connect = {"nameserver": nameserver, "instance": new_token()}
        self._access = {} if access is None else {"access": access}
        self._lock = threading.Lock()
        self._beginning: threading.Thread | None = None
        self._spawned: Worker | None = None
        self._worker: Worker | ResidentTools | None = None
        """What answers: its own process, or the cluster's."""

    def request(self, do: str, waits_s: float = 0.0, **arguments: Any) -> dict[str, Any]:
        """One command of the worker; see `harness.workers.protocol`.

        Args:
            do: its name.
            waits_s: how long the worker itself may wait for RocketMQ.
            arguments: its arguments.

        Raises:
            EnvironmentNotReady: the worker can't start, or has died.
            RequestFailed: RocketMQ refuses it.
        """
        return self._started().request(do, _MARGIN_S + waits_s, **arguments)

    def begin(self) -> None:
        """Start it in the background; where it can't start, the next request tells. Idempotent."""
        if self._beginning is None:
            self._beginning = threading.Thread(target=self._begin, name="tools-start", daemon=True)
            self._beginning.start()

    def release(self) -> None:
        """End the process, if there is one, also while it starts. Idempotent."""
        if self._spawned is not None:
            self._spawned.release()
        if self._beginning is not None:
            self._beginning.join()
            if self._spawned is not None:  # it came meanwhile
                self._spawned.release()

    def _begin(self) -> None:
        with contextlib.suppress(EnvironmentNotReady):
            self._started()

    def _started(self) -> Worker | ResidentTools:
        with self._lock:
            if self._worker is None and self._resident is not None and self._resident.answers:
                self._worker = self._resident
            if self._worker is None:
                worker = self._spawned = self._spawn()
                try:
                    worker.wait_ready(_START_LIMIT_S)
                    worker.request("connect", _MARGIN_S, **self._connect, **self._access)
                except BaseException:
                    worker.release()
                    raise
                self._worker = worker
            return self._worker
