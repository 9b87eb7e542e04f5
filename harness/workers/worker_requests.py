"""The requests to one worker that wait for their answers."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rocketchaos.harness.workers.worker_events import GarbageError, WorkerEvent


@dataclass(slots=True)
class Request:
    """A request that waits for its answer."""

    number: int
    done: threading.Event = field(default_factory=threading.Event)
    reply: Mapping[str, Any] | None = None
    """None when done: the worker has died."""


class Requests:
    """Numbers requests from 1, and gives each its answer. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[int, Request] = {}
        self._last = 0
        self.over = threading.Event()
        """The worker has ended: nothing answers any more."""

    @contextmanager
    def begin(self) -> Iterator[Request | None]:
        """One more request, until its answer is there or given up; None: nothing answers any more."""
        with self._lock:
            request = None
            if not self.over.is_set():
                self._last += 1
                request = self._waiting[self._last] = Request(self._last)
        try:
            yield request
        finally:
            if request is not None:
                with self._lock:
                    self._waiting.pop(request.number, None)

    def answer(self, event: WorkerEvent) -> None:
        """Give an answer to the request that waits for it, if that hasn't been given up.

        Raises:
            GarbageError: fields are missing.
        """
        match event.data:
            case {"id": int(number), "ok": True, "result": dict()}:
                pass
            case {"id": int(number), "ok": False, "error": str(), "code": int() | None, "defect": bool()}:
                pass
            case _:
                raise GarbageError(f"a reply without its fields: {dict(event.data)!r:.200}")
        with self._lock:
            request = self._waiting.pop(number, None)
        if request is not None:
            request.reply = event.data
            request.done.set()

    def end(self) -> None:
        """Let nobody wait any more: the worker has ended."""
        with self._lock:
            self.over.set()
            unanswered, self._waiting = list(self._waiting.values()), {}
        for request in unanswered:
            request.done.set()
