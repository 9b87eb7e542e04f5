"""The way to a program in a container that no fault of its network touches: the engine's own API.

The engine copies standard input, output and error through the socket on which it was asked (`POST
/containers/ID/attach`), each piece of output with a header that says which stream it is of.
"""

import contextlib
import io
import os
import socket
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docker.utils.socket import STDOUT, frames_iter

from rocketchaos.harness.containers.container_engine import Engine, refusals

_BOTH_WAYS = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}


class Attachment:
    """Standard output goes to `output`, standard error to a file; `input` is standard input.

    Earlier output of the program isn't here, so it must wait for a word. From here on nothing is lost, if the
    reader of `output` takes its time too: an engine waits 2 s for whoever is attached, then drops the rest (moby
    20.10 and later, daemon/monitor.go), so that whatever comes is taken at once, and kept here.
    """

    def __init__(self, engine: Engine, container_id: str, errors: Path, on_end: Callable[[], None]) -> None:
        """
        Args:
            engine: on this host.
            container_id: runs, with a standard input that is not attached yet.
            errors: is appended to.
            on_end: called, from a thread of its own, when the program has ended or the engine has; `output`
                ends when it returns.

        Raises:
            EnvironmentNotReady: the engine refuses.
            OSError: the file can't be written.
        """
        self._errors = errors.open("ab", buffering=0)
        with refusals("a worker's container can't be attached to"):
            attached = engine.client.api.attach_socket(container_id, params=_BOTH_WAYS)
        # Of its own: what docker-py gives back is closed with the answer, when that is collected.
        self._socket = socket.socket(fileno=os.dup(attached.fileno()))
        self._on_end = on_end
        self._inbox = _Inbox()
        self.input: Any = _WriteHalf(self._socket)
        self.output = io.BufferedReader(self._inbox)
        self._reader = threading.Thread(target=self._read, name=f"attached-{container_id[:12]}", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            with contextlib.suppress(OSError):
                for stream, data in frames_iter(self._socket, False):  # type: ignore[no-untyped-call]
                    if stream == STDOUT:
                        self._inbox.put(data)
                    else:
                        self._note(data)
            self._on_end()
        finally:
            self._inbox.end()

    def _note(self, data: bytes) -> None:
        # A full disk may cost lines of a log, but no event.
        with contextlib.suppress(OSError):
            self._errors.write(data)

    def close(self) -> None:
        """After the end. Idempotent."""
        if threading.current_thread() is not self._reader:
            self._reader.join()
        self._socket.close()
        self._errors.close()


class _Inbox(io.RawIOBase):
    """A pipe of bytes between two threads. A read returns all bytes that are available."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._pieces: deque[memoryview] = deque()
        self._ended = False

    def put(self, data: bytes) -> None:
        with self._changed:
            self._pieces.append(memoryview(data))
            self._changed.notify()

    def end(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with self._changed:
            self._changed.wait_for(lambda: self._pieces or self._ended)
            if not self._pieces:
                return 0
            piece = self._pieces.popleft()
            count = min(len(buffer), len(piece))
            buffer[:count] = piece[:count]
            if count < len(piece):
                self._pieces.appendleft(piece[count:])
            return count


class _WriteHalf(io.RawIOBase):
    """The socket as standard input: closing it is end of file there, while the other direction stays open."""

    def __init__(self, both: socket.socket) -> None:
        self._both = both

    def fileno(self) -> int:
        return self._both.fileno()

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            with contextlib.suppress(OSError):
                self._both.shutdown(socket.SHUT_WR)
        super().close()
