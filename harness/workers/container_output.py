"""What a container prints, as whole lines: from the engine's API into a pipe."""

import contextlib
import io
import os
import socket
import threading
from collections.abc import Callable

from docker.utils.socket import frames_iter

from rocketchaos.harness.containers.container_engine import Engine, refusals

_STREAMS = {"stdout": 1, "stderr": 1, "stream": 1}
_LONGEST_PART_BYTES = 64 * 1024
"""A line that is longer goes on before its end is known."""


class ContainerOutput:
    """The standard output and the standard error of one container.

    An engine tells them apart, and hands out pieces that may end within a line: each stream is put together again,
    so that no line of one is torn by a line of the other. Where nobody reads the pipe the container waits,
    as at a pipe of its own.
    """

    def __init__(self, engine: Engine, container_id: str, on_end: Callable[[], None]) -> None:
        """
        Args:
            engine: on this host.
            container_id: has been made, and isn't started yet.
            on_end: called, from a thread of its own, when all that was printed is in the pipe; this ends then.

        Raises:
            EnvironmentNotReady: the engine refuses.
        """
        with refusals("the container can't be attached to"):
            attached = engine.client.api.attach_socket(container_id, params=_STREAMS)
        # Of its own: what docker-py gives back is closed with the answer, when that is collected.
        self._socket = socket.socket(fileno=os.dup(attached.fileno()))
        self._on_end = on_end
        read_end, self._into = os.pipe()
        self.pipe = io.FileIO(read_end, "rb")
        """This end of the pipe."""
        self._parts: dict[int, bytearray] = {}
        self._reader = threading.Thread(target=self._read, name=f"printed-{container_id[:12]}", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            with contextlib.suppress(OSError):
                for stream, data in frames_iter(self._socket, False):  # type: ignore[no-untyped-call]
                    self._write(self._whole(stream, data))
            for rest in self._parts.values():
                self._write(bytes(rest))
            self._on_end()
        finally:
            os.close(self._into)

    def _whole(self, stream: int, data: bytes) -> bytes:
        """What of a stream can go on now: up to its last end of line."""
        part = self._parts.setdefault(stream, bytearray())
        part += data
        end = part.rfind(b"\n") + 1
        if len(part) - end > _LONGEST_PART_BYTES:
            end = len(part)
        whole = bytes(part[:end])
        del part[:end]
        return whole

    def _write(self, data: bytes) -> None:
        # Nobody may listen any more, and the end is to be seen all the same.
        with contextlib.suppress(BrokenPipeError):
            left = memoryview(data)
            while left:
                left = left[os.write(self._into, left) :]

    def close(self) -> None:
        """After the end, or without a beginning. Idempotent."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self.pipe.close()
        if threading.current_thread() is not self._reader:
            self._reader.join()
        self._socket.close()
