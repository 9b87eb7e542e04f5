"""What users' programs show of the messages that they have handled, other than by their lines: read as events."""

from __future__ import annotations

import re
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rocketchaos.harness.core.errors import HarnessDefect, RocketchaosError
from rocketchaos.harness.language.app_spec import Sees
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.workers.printed_output import SHOWN
from rocketchaos.harness.workers.worker_events import WorkerEvent

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext

Tell = Callable[[str, WorkerEvent], None]
"""Called with a consumer's name and an event, one at a time."""


class Entries(ABC):
    """The entries of one run from one kind of source; a separate thread looks for them."""

    look_every_s: float

    def __init__(self, scenario: Scenario, way: str, tell: Tell) -> None:
        self._sees: dict[str, Sees] = {
            name: spec.app.sees
            for name, spec in scenario.consumers.items()
            if spec.app is not None and spec.app.sees is not None and spec.app.sees.way == way
        }
        self._tell = tell
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._last: dict[str, str] = {}
        self._context: RunContext | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name=f"entries-by-{way}", daemon=True)

    def begin(self, context: RunContext) -> None:
        """Read from now on, where a consumer shows anything in this way."""
        self._context = context
        if self._sees:
            self._thread.start()

    def read(self) -> None:
        """Write all that has been shown by now into the history."""
        self._one_at_a_time(self._read_all)

    def _one_at_a_time(self, read: Callable[[RunContext], None]) -> None:
        if self._context is not None and self._sees and not self._ended.is_set():
            with self._lock:
                read(self._context)

    def _read_all(self, context: RunContext) -> None:
        """Write all that has been shown, once it can be read; one that can be late is awaited here."""
        self._read(context)

    @abstractmethod
    def _read(self, context: RunContext) -> None:
        """Write what can be read now into the history; called by one thread at a time."""

    def seen(self, consumer: str) -> Mapping[str, Any]:
        """How many `entries` this consumer has shown, `where`, and the `last` one."""
        where = self._where(consumer)
        return {"where": where, "entries": self._counts[consumer], "last": self._last.get(consumer, "")}

    @abstractmethod
    def _where(self, consumer: str) -> str:
        """In words: `written into handled`."""

    def close(self) -> None:
        """Read no more. Idempotent."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(self.look_every_s):
            try:
                self._one_at_a_time(self._read)
            except RocketchaosError as error:
                self._note(error)
                return
            except Exception as error:  # a defect must not pass for a program that shows nothing
                self._note(HarnessDefect(f"entries can't be read: {type(error).__name__}: {error}"))
                return

    def _note(self, error: RocketchaosError) -> None:
        if self._context is not None:
            self._context.health.note(error)

    def _count(self, consumer: str, text: str) -> None:
        self._counts[consumer] += 1
        self._last[consumer] = text[:SHOWN]

    def _found(self, consumer: str, text: str) -> Iterable[tuple[dict[str, str], re.Match[str]]]:
        """The named groups of each place at which its pattern finds a message."""
        for found in re.finditer(self._sees[consumer].pattern, text):
            yield {name: value for name, value in found.groupdict().items() if value is not None}, found

    def _emit(self, consumer: str, kind: str, data: Mapping[str, object]) -> None:
        self._tell(
            consumer, WorkerEvent(consumer, time.monotonic_ns(), time.time_ns() // 1_000_000, kind, data)
        )
