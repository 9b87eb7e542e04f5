"""What a user's program prints: read into its log, and lines that say that it handled a message become events.

It answers for the program as a worker does (`harness.workers.protocol`), as far as that goes from outside: `ping`,
and `printed`, which tells how many lines came.
"""

import contextlib
import json
import os
import re
import selectors
import threading
from collections.abc import Callable, Iterator, Mapping
from io import FileIO
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol

from rocketchaos.harness.workers.program_log import (
    LOOK_EVERY_S,
    READ_BYTES,
    ProgramLog,
    close_and_tell,
    read_available,
)
from rocketchaos.harness.workers.protocol import EventPipe

LONGEST_LINE_BYTES = 16 * 1024
"""The rest of a line is ignored."""


class Lines:
    """Makes lines of bytes as they come."""

    def __init__(self) -> None:
        self._begun = bytearray()

    def add(self, data: bytes) -> Iterator[str]:
        """The lines that end in this; bytes that are no UTF-8 are replaced."""
        *ended, rest = data.split(b"\n")
        for part in ended:
            self._keep(part)
            yield self._taken()
        self._keep(rest)

    def begun(self) -> str:
        """The last line so far, where it has no end yet."""
        return self._begun.decode(errors="replace")

    def end(self) -> Iterator[str]:
        """The last line, where it has no end."""
        if self._begun:
            yield self._taken()

    def _keep(self, part: bytes) -> None:
        self._begun += part[: LONGEST_LINE_BYTES - len(self._begun)]

    def _taken(self) -> str:
        line = self._begun.decode(errors="replace").rstrip("\r")
        self._begun.clear()
        return line


SHOWN = 200
"""How many characters of a line an event has."""


class Printing(Protocol):
    """A program that prints."""

    @property
    def pid(self) -> int:
        """Its process id."""

    def poll(self) -> int | None:
        """How it ended; None: it hasn't. What it printed before its end can be read by then."""


class PrintedOutput:
    """Reads one program's output in a thread of its own, until the program has ended."""

    def __init__(
        self,
        process: Printing,
        output: IO[bytes] | FileIO,
        *,
        log: Path,
        sees: str | None,
        ready: str | None,
        end: Callable[[], None],
    ) -> None:
        """
        Args:
            process: the program.
            output: a pipe, with its standard output and its standard error; closed at the end.
            log: where all of it is added.
            sees: the regular expression that finds that a message was handled; None: its lines don't tell.
            ready: one that finds that it is ready.
            end: ends the program at once.

        Raises:
            OSError: the log can't be written.
        """
        self._process = process
        self._pipe = output
        self._output = output.fileno()
        os.set_blocking(self._output, False)
        self._log = ProgramLog(log)
        self._sees = None if sees is None else re.compile(sees)
        self._ready = None if ready is None else re.compile(ready)
        self._commands, commands = os.pipe()
        events, self._events_fd = os.pipe()
        self._events = EventPipe(self._events_fd)
        self.commands: BinaryIO = os.fdopen(commands, "wb", buffering=0)
        """For commands to it, as to a worker; its end ends the program."""
        self.events: BinaryIO = os.fdopen(events, "rb")
        """Its events, as a worker's; they end with the program."""
        self._end = end
        self._lines = Lines()
        self._count = self._found = 0
        self._is_ready = ready is None
        self._last = ""
        self._thread = threading.Thread(target=self._run, name=f"output-of-{process.pid}", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def _run(self) -> None:
        try:
            self._emit("ready", {"pid": self._process.pid})
            self._serve()
            self._read()
            self._take(self._lines.end())
        except BrokenPipeError:
            pass  # nobody listens any more
        finally:
            close_and_tell(self._log, self._events)
            for descriptor in (self._events_fd, self._commands):
                with contextlib.suppress(OSError):
                    os.close(descriptor)
            self._pipe.close()

    def _serve(self) -> None:
        asked = Lines()
        with selectors.DefaultSelector() as selector:
            selector.register(self._output, selectors.EVENT_READ)
            selector.register(self._commands, selectors.EVENT_READ)
            while self._process.poll() is None:
                ready = {key.fd for key, _ in selector.select(LOOK_EVERY_S)}
                if self._output in ready and not self._read(times=1):
                    selector.unregister(self._output)
                if self._commands in ready:
                    data = os.read(self._commands, READ_BYTES)
                    if not data:
                        selector.unregister(self._commands)
                        self._end()
                    for line in asked.add(data):
                        self._answer(json.loads(line))

    def _read(self, times: int = 64) -> bool:
        """Read what it has printed by now; False: its output has ended. A pipe holds 64 KiB, or some more."""
        return read_available(self._output, self._add, times)

    def _add(self, data: bytes) -> None:
        self._log.write(data)
        self._take(self._lines.add(data))

    def _take(self, lines: Any) -> None:
        for line in lines:
            self._count += 1
            self._last = line or self._last
            if not self._is_ready and self._ready is not None and self._ready.search(line):
                self._is_ready = True
            matches = [] if self._sees is None else list(self._sees.finditer(line))
            self._found += bool(matches)
            for found in matches:
                entry = {name: value for name, value in found.groupdict().items() if value is not None}
                self._emit("line", {"line": line[:SHOWN], **entry})

    def _answer(self, command: Mapping[str, Any]) -> None:
        # What it had printed before counts as reported.
        self._read()
        result: dict[str, Any] | None = None
        if command["do"] == "ping":
            result = {}
        elif command["do"] == "printed":
            last = (self._last or self._lines.begun())[:SHOWN]
            result = {"lines": self._count, "found": self._found, "ready": self._is_ready, "last": last}
        reply: dict[str, Any] = {"id": command["id"], "ok": result is not None, "result": result}
        if result is None:
            error = "a program of the user's own, seen from outside, can't do this"
            reply |= {"error": error, "code": None, "exceptions": [], "defect": False}
        self._emit("reply", reply)

    def _emit(self, kind: str, data: Mapping[str, Any]) -> None:
        self._events.emit(kind, data)
