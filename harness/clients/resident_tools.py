"""The tools of a cluster that stays up: one process from `rocketchaos up` on, which every command asks.

So no command waits for a JVM of its own before RocketMQ's tools tell what became of messages.
"""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.workers.worker import result_of

_LOOK_LIMIT_S = 2.0
_NAME = "tools"


class ResidentTools:
    """See `harness.workers.child.tools_server`. Every method may be called from any thread."""

    def __init__(self, path: Path) -> None:
        """`path` is the tools' socket."""
        self._path = path

    @property
    def answers(self) -> bool:
        """Whether they are there."""
        try:
            self.request("ping", _LOOK_LIMIT_S)
        except EnvironmentNotReady:
            return False
        return True

    def request(self, do: str, limit_s: float, /, **with_: Any) -> dict[str, Any]:
        """Send a command and wait for its answer.

        Raises:
            RequestFailed: RocketMQ, or the network, refused.
            EnvironmentNotReady: they don't answer within the limit, or are gone.
            HarnessDefect: they failed where they should not have.
        """
        command = {"id": 1, "do": do, "with": with_}
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(limit_s)
                connection.connect(str(self._path))
                connection.sendall((json.dumps(command) + "\n").encode())
                line = connection.makefile("rb").readline()
        except OSError as error:
            raise self._silent(do, str(error)) from error
        if not line.endswith(b"\n"):
            raise self._silent(do, "they ended before they answered")
        return result_of(json.loads(line)["data"], f"{_NAME}: `{do}` failed", _NAME)

    def _silent(self, do: str, reason: str) -> EnvironmentNotReady:
        return EnvironmentNotReady(
            f"the tools of the running cluster don't answer `{do}`: {reason}",
            "`rocketchaos down` ends the cluster, and `rocketchaos up` starts another.",
        )
