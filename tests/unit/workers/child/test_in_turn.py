"""What a client does one by one."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from rocketchaos.harness.workers.child.in_turn import InTurn
from rocketchaos.harness.workers.protocol import CommandFailed


def test_one_after_the_other_in_order() -> None:
    in_turn, begun, may_go_on = InTurn("producer"), threading.Event(), threading.Event()
    done: list[str] = []

    def first() -> None:
        begun.set()
        may_go_on.wait(10)
        done.append("first")

    with ThreadPoolExecutor(1) as other:
        other.submit(in_turn.do, first)
        assert begun.wait(10)
        threading.Timer(0.05, may_go_on.set).start()
        in_turn.do(done.append, "second")
    assert done == ["first", "second"]


def test_what_the_work_raises_comes_through() -> None:
    def work() -> None:
        raise RuntimeError("refused")

    with pytest.raises(RuntimeError, match=r"^refused$"):
        InTurn("producer").do(work)


def test_after_its_end_it_refuses_as_a_client_does() -> None:
    in_turn = InTurn("producer")
    in_turn.close()
    with pytest.raises(CommandFailed, match=r"^the producer is being shut down$"):
        in_turn.do(len, "")
