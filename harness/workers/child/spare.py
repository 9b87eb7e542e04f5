"""A spare worker waits until a command takes it; see `harness.workers.spares`."""

import os
import socket
import sys
from pathlib import Path

_SECOND_LIMIT_S = 10.0
"""A command that takes a spare connects twice, at once."""


class Spare:
    """The socket at which a command takes this process: `<stem>.<pid>.starting`, then `<stem>.<pid>.ready`."""

    def __init__(self, stem: Path) -> None:
        """Listen, while this process is still starting.

        Raises:
            OSError: the folder is gone.
        """
        self._file = Path(f"{stem}.{os.getpid()}.starting")
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self._file))
        self._listening.listen()

    def wait_until_taken(self) -> int:
        """Wait for a command. Its first connection becomes standard input.

        Returns the file descriptor of its second connection, into which events go.

        Raises:
            OSError: the folder is gone, or the command has ended before its second connection.
        """
        self._file.rename(self._file.with_suffix(".ready"))
        with self._listening:
            commands, _ = self._listening.accept()
            self._listening.settimeout(_SECOND_LIMIT_S)
            events, _ = self._listening.accept()  # blocks again: only the listening socket has the limit
        with commands:
            os.dup2(commands.fileno(), sys.stdin.fileno())
        return events.detach()
