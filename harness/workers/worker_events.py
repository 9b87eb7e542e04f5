"""What comes through a worker's event pipe: whole events, or garbage."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

LINE_LIMIT_BYTES = 1024 * 1024
"""No event is longer; what is, is garbage."""

_SHOWN_BYTES = 200


@dataclass(frozen=True, slots=True)
class WorkerEvent:
    """One event, as the worker that saw it stamped it; see `harness.workers.protocol` for kinds and data."""

    worker: str
    mono_ns: int
    wall_ms: int
    kind: str
    data: Mapping[str, Any]


class GarbageError(Exception):
    """A worker wrote something that is no event."""


def read_events(pipe: BinaryIO, worker: str) -> Iterator[WorkerEvent]:
    """The events of a pipe, until its end.

    It skips a last line without a line end: the worker died while it wrote that line.

    Raises:
        GarbageError: a line is no event, or too long.
    """
    while True:
        line = pipe.readline(LINE_LIMIT_BYTES + 1)
        if len(line) > LINE_LIMIT_BYTES:
            raise GarbageError(
                f"a line of more than {LINE_LIMIT_BYTES} bytes that begins with {_shown(line)}"
            )
        if not line.endswith(b"\n"):
            return
        yield _parse(line, worker)


def _parse(line: bytes, worker: str) -> WorkerEvent:
    try:
        content = json.loads(line)
    except ValueError as error:
        raise GarbageError(f"a line that is no JSON: {_shown(line)}") from error
    match content:
        case {"mono_ns": int(mono_ns), "wall_ms": int(wall_ms), "kind": str(kind), "data": dict(data)}:
            return WorkerEvent(worker, mono_ns, wall_ms, kind, data)
    raise GarbageError(f"a line without the fields of an event: {_shown(line)}")


def _shown(line: bytes) -> str:
    shown = line[:_SHOWN_BYTES].decode(errors="backslashreplace").rstrip()
    return f"{shown!r}{' ...' if len(line) > _SHOWN_BYTES else ''}"
