"""Looks at the same thing are one after the other."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, cast

from rocketchaos.harness.probes.observations import one_at_a_time


class Context:
    """A run's context, as far as looks need it."""

    def __init__(self) -> None:
        self._locks: dict[str, threading.RLock] = {}
        self.written: list[int] = []
        self.stored = 0
        self.observations = self

    def only(self, probe: str) -> AbstractContextManager[object]:
        return self._locks.setdefault(probe, threading.RLock())


def test_what_a_slow_look_saw_is_never_written_after_what_a_later_one_saw() -> None:
    context, asked, go_on = Context(), threading.Event(), threading.Event()

    @one_at_a_time
    def look(context: Any, *, slow: bool) -> None:
        seen = context.stored
        if slow:
            asked.set()
            go_on.wait(10)
        context.written.append(seen)

    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(look, cast(Any, context), slow=True)
        assert asked.wait(10)
        context.stored = 1
        quick = pool.submit(look, cast(Any, context), slow=False)
        go_on.set()
        slow.result(10), quick.result(10)
    assert context.written == [0, 1]


def test_looks_at_other_things_do_not_wait() -> None:
    context, asked, go_on = Context(), threading.Event(), threading.Event()

    @one_at_a_time
    def offsets(_context: Any) -> None:
        asked.set()
        assert go_on.wait(10)

    @one_at_a_time
    def tracks(_context: Any) -> str:
        return "seen"

    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(offsets, cast(Any, context))
        assert asked.wait(10)
        assert tracks(cast(Any, context)) == "seen"
        go_on.set()
        held.result(10)
