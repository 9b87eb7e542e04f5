"""The history of a run: events, appended line by line, readable after a crash at any byte."""

import json
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.events.base import Body, BrokenEvent
from rocketchaos.harness.core.model import SCHEMA_VERSION, Event


class History:
    """Append-only and safe to use from several threads; each event is one `write` to `events.jsonl`.

    Without a path it lives in memory only.
    """

    def __init__(self, run: str, path: Path | None = None) -> None:
        self.run = run
        self._events: list[Event] = []
        self._lock = threading.Lock()
        self._path = path
        self._fd = (
            None if path is None else os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        )

    def append(
        self,
        node: str,
        what: str | Body,
        data: Mapping[str, Any] | None = None,
        *,
        mono_ns: int | None = None,
        wall_ms: int | None = None,
    ) -> Event:
        """Add one event; times are now, unless the one who saw it took them.

        Args:
            what: a body of the catalogue; or the word of a kind, with the event's `data`.

        Raises:
            EnvironmentNotReady: the line could not be written (a full disk, for one).
        """
        kind, fields = (what, data or {}) if isinstance(what, str) else (what.kind, what.as_data())
        with self._lock:
            event = Event(
                n=len(self._events) + 1,
                mono_ns=time.monotonic_ns() if mono_ns is None else mono_ns,
                wall_ms=time.time_ns() // 1_000_000 if wall_ms is None else wall_ms,
                run=self.run,
                node=node,
                kind=kind,
                data=dict(fields),
            )
            # In memory first: on a full disk the outcome must still be able to report it.
            self._events.append(event)
            self._write(event)
            return event

    def _write(self, event: Event) -> None:
        if self._fd is None:
            return
        line = (json.dumps(to_json(event), ensure_ascii=False) + "\n").encode()
        try:
            written = os.write(self._fd, line)
        except OSError as error:
            raise EnvironmentNotReady(
                f"the history can't be written: {error.strerror}: {self._path}",
                "Free some disk space, or put the runs elsewhere with --runs or ROCKETCHAOS_RUNS.",
            ) from error
        if written != len(line):
            raise EnvironmentNotReady(
                f"the history can't be written whole (disk full?): {self._path}",
                "Free some disk space, or put the runs elsewhere with --runs or ROCKETCHAOS_RUNS.",
            )

    @property
    def events(self) -> Sequence[Event]:
        """All events up to now, as a copy."""
        with self._lock:
            return tuple(self._events)

    def close(self) -> None:
        """Close the file; the events stay."""
        with self._lock:
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None


def to_json(event: Event) -> dict[str, Any]:
    """The event as a line of `events.jsonl` has it."""
    return {
        "schema_version": SCHEMA_VERSION,
        "n": event.n,
        "mono_ns": event.mono_ns,
        "wall_ms": event.wall_ms,
        "run": event.run,
        "node": event.node,
        "kind": event.kind,
        "data": dict(event.data),
    }


def from_json(line: Mapping[str, Any]) -> Event:
    """The event of one line.

    Raises:
        KeyError, TypeError: a field is missing, or is of another type.
    """
    return Event(
        n=int(line["n"]),
        mono_ns=int(line["mono_ns"]),
        wall_ms=int(line["wall_ms"]),
        run=str(line["run"]),
        node=str(line["node"]),
        kind=str(line["kind"]),
        data=dict(line["data"]),
    )


@dataclass(frozen=True, slots=True)
class ReadHistory:
    """The events of a file, and what of it could not be read."""

    events: tuple[Event, ...]
    damage: str | None
    """None, or one sentence about the first line that is no event, or lacks what belongs to its kind; it and what
    follows it are left out."""


def read_history(path: Path) -> ReadHistory:
    """Read `events.jsonl`, up to the first line that is no event (a crash in mid-write leaves one).

    Nor is a line whose data lacks a field of its kind, or has one of another type. Kinds and fields that the
    catalogue doesn't know are no damage: a newer version wrote them.
    """
    events: list[Event] = []
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                event = from_json(msgspec.json.decode(line))
                if event.n != number:
                    return ReadHistory(
                        tuple(events), f"{path.name}:{number}: event {event.n} stands where {number} belongs"
                    )
                event.body  # noqa: B018 - reads it, and keeps it
                events.append(event)
            except BrokenEvent as error:
                return ReadHistory(
                    tuple(events), f"{path.name}:{number}: {error}; read up to the line before it"
                )
            except (ValueError, KeyError, TypeError):
                return ReadHistory(
                    tuple(events), f"{path.name}:{number}: not a whole event; read up to the line before it"
                )
    return ReadHistory(tuple(events), None)
