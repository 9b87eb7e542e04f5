"""What a user's program prints, kept on disk up to a limit: the beginning, and the end."""

import contextlib
import os
import re
import selectors
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rocketchaos.harness.core.events.clients import OutputCut
from rocketchaos.harness.workers.protocol import EventPipe

LOG_LIMIT_BYTES = 32 * 1024 * 1024
"""The limit of a program's log on disk. Of later output the end is kept."""
TAIL_BYTES = 64 * 1024
READ_BYTES = 64 * 1024
LOOK_EVERY_S = 0.1
"""How often a silent program is checked for its end: a process that it started may hold its output open."""


class ProgramLog:
    """A file of bounded size. The bytes that it leaves out are counted, and named at the end."""

    def __init__(self, path: Path) -> None:
        """
        Args:
            path: is appended to: a program that starts again has one log.

        Raises:
            OSError: it can't be written.
        """
        self._path = path
        self._file = path.open("ab", buffering=0)
        self._left = max(0, LOG_LIMIT_BYTES - path.stat().st_size)
        self._tail = bytearray()
        self._left_out = 0

    def write(self, data: bytes) -> None:
        """Add what fits; a full disk must not stop the program."""
        kept, rest = data[: self._left], data[self._left :]
        self._left -= len(kept)
        self._left_out += len(kept) - self._written(kept)
        self._tail += rest
        if len(self._tail) > TAIL_BYTES:
            self._left_out += len(self._tail) - TAIL_BYTES
            del self._tail[: len(self._tail) - TAIL_BYTES]

    def _written(self, data: bytes) -> int:
        written = 0
        with contextlib.suppress(OSError):
            while written < len(data):
                written += self._file.write(data[written:]) or 0
        return written

    def close(self) -> OutputCut | None:
        """Add the end; what was left out before it, if anything."""
        if self._left_out:
            self._written(f"\n[rocketchaos: {self._left_out} bytes are left out here]\n".encode())
        self._left_out += len(self._tail) - self._written(bytes(self._tail))
        with contextlib.suppress(OSError):
            self._file.close()
        return OutputCut(log=self._path.name, left_out_bytes=self._left_out) if self._left_out else None


def close_and_tell(log: ProgramLog, events: EventPipe) -> None:
    """Close a log, and write an event if something was left out."""
    cut = log.close()
    if cut is not None:
        with contextlib.suppress(BrokenPipeError):  # nobody listens any more
            events.emit(cut.kind, cut.as_data())


def read_available(output_fd: int, take: Callable[[bytes], None], times: int = 64) -> bool:
    """Hand on what is there, at most 64 KiB at a time, so that no output hides an end; False: it has ended."""
    for _ in range(times):
        try:
            data = os.read(output_fd, READ_BYTES)
        except BlockingIOError:
            return True
        if not data:
            return False
        take(data)
    return True


def keep_output(output_fd: int, events_fd: int, log: ProgramLog, poll: Callable[[], Any]) -> None:
    """Read one program's output into its log, in a thread, until the program has ended.

    The thread holds an end of the program's event pipe: when that pipe ends, the log is complete.

    Args:
        output_fd: this end of the pipe into which the program prints; closed at the end.
        events_fd: an end of its event pipe, to write into; closed at the end.
        log: closed at the end.
        poll: None while the program runs.
    """
    os.set_blocking(output_fd, False)

    def keep() -> None:
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(output_fd, selectors.EVENT_READ)
                ended = False
                # What it printed before its end is in the pipe by then.
                while read_available(output_fd, log.write) and not ended:
                    selector.select(LOOK_EVERY_S)
                    ended = poll() is not None
        finally:
            close_and_tell(log, EventPipe(events_fd))
            os.close(events_fd)
            os.close(output_fd)

    threading.Thread(target=keep, name=f"output-to-{output_fd}", daemon=True).start()


_TAIL_BYTES = 65_536
_LONGEST = 300
_FRAME = re.compile(r"\s+at [\w.$/@<>]+\(|\s*\.\.\. \d+ (more|common frames omitted)")
"""A line of a Java stack trace that names a method, not a cause."""


def last_lines(log: Path, count: int = 12) -> str:
    """The end of a log, indented, long lines cut and without the frames of Java's stack traces: they would push
    its causes out. With a note if the log is empty."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError as error:
        return f"its log can't be read: {error}"
    if not lines:
        return f"it printed nothing: {log}"
    telling = [line for line in lines if line.strip() and not _FRAME.match(line)] or lines
    return "\n".join([f"the end of {log}:", *(f"    {_cut(line)}" for line in telling[-count:])])


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} …"
