"""The way in to a worker: its standard input, written to without hanging where it doesn't read."""

import os
import select
import threading
import time
from typing import IO

_SLICE_S = 0.1


class CommandPipe:
    """Whole lines, in the order of writing, from any thread."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        os.set_blocking(pipe.fileno(), False)
        self._lock = threading.Lock()
        self._unsent = b""
        self._closing = threading.Event()

    def write(self, line: bytes, deadline: float) -> bool:
        """Write a line, at most until `deadline` (of `time.monotonic`); whether all of it is written.

        The rest goes ahead of the next line, so that the worker never sees half of one.

        Raises:
            OSError: no process can read it any more, or the pipe is closed.
        """
        if not self._lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return False
        try:
            self._unsent += line
            while self._unsent:
                if self._closing.is_set():
                    raise BrokenPipeError("the worker's standard input is closed")
                self._write_some()
                if self._unsent and not self._wait_for_room(deadline):
                    return False
            return True
        finally:
            self._lock.release()

    def _write_some(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._pipe.fileno(), self._unsent) :]
        except BlockingIOError:
            return

    def _wait_for_room(self, deadline: float) -> bool:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            return False
        poll = select.poll()
        poll.register(self._pipe.fileno(), select.POLLOUT)
        # In slices, so that `close` never waits long for a writer.
        poll.poll(min(left_s, _SLICE_S) * 1000)
        return True

    def close(self) -> None:
        """End of file for the worker. Idempotent."""
        self._closing.set()
        with self._lock:
            self._pipe.close()
