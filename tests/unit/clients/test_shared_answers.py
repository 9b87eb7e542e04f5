"""One answer for many who ask."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from rocketchaos.harness.clients.shared_answers import SharedAnswer

LIMIT_S = 10.0


class Source:
    """Answers 1, 2, 3 ..., each when it is let."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.let = threading.Semaphore(0)
        self.number = 0

    def ask(self) -> int:
        self.number += 1
        number = self.number
        self.asked.release()
        assert self.let.acquire(timeout=LIMIT_S)
        if number == 3:
            raise ConnectionError("refused")
        return number


def test_who_asks_during_a_request_shares_the_next_one() -> None:
    source = Source()
    shared = SharedAnswer(source.ask)
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(shared.get)
        assert source.asked.acquire(timeout=LIMIT_S)
        others = [pool.submit(shared.get) for _ in range(5)]
        while pool._work_queue.qsize() or len(shared._changed._waiters) < 5:  # type: ignore[attr-defined]
            threading.Event().wait(0.01)
        source.let.release(2)
        assert first.result(LIMIT_S) == 1
        assert {other.result(LIMIT_S) for other in others} == {2}
        assert source.number == 2


def test_a_failure_is_everybodys_who_waited_and_nobodys_after() -> None:
    source = Source()
    shared = SharedAnswer(source.ask)
    source.let.release(4)
    assert (shared.get(), shared.get()) == (1, 2)
    with pytest.raises(ConnectionError, match="refused"):
        shared.get()
    assert shared.get() == 4
