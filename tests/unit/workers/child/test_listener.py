"""The listener of a consumer fails, and is slow, on the messages that its behaviour names."""

from __future__ import annotations

import time
from typing import Any

from rocketchaos.harness.workers.child.listener import Listener


class Pipe:
    """Takes events, and forgets them."""

    def emit(self, _kind: str, _data: dict[str, Any]) -> None:
        """Nothing is written."""


def message(number: int, times: int = 0) -> dict[str, Any]:
    key = f"orders-{number}"
    return {"key": key, "msg_id": key, "offset_msg_id": key, "reconsume_times": times}


def listener(**behaviour: Any) -> Listener:
    return Listener("a", Pipe(), **behaviour)  # type: ignore[arg-type]


def test_every_message_fails_as_often_as_it_says() -> None:
    fails = listener(fail=2)
    assert [fails.receive([message(1, times)])[1] for times in range(4)] == [False, False, True, True]


def test_only_the_named_message_fails_and_its_batch_with_it() -> None:
    fails = listener(fail=1, only=["orders-2"])
    assert fails.receive([message(1)])[1]
    assert not fails.receive([message(2)])[1]
    assert not fails.receive([message(1), message(2), message(3)])[1]
    assert fails.receive([message(1), message(2, 1), message(3)])[1]


def test_only_the_named_message_is_slow() -> None:
    slow = listener(slow_ms=60_000, only=["orders-2"])
    began = time.monotonic()
    slow.receive([message(1), message(3)])
    assert time.monotonic() - began < 10
    slow.abandon()
    assert slow.receive([message(2)])[1]


def test_only_of_the_named_message_the_invisible_time_changes() -> None:
    changes = listener(change_invisible_ms=20_000, only=["orders-2"])
    seen: list[int] = []
    for number in (1, 2, 3):
        assert changes.receive([message(number)], seen.append)[1]
    assert seen == [20]


def test_without_such_a_behaviour_no_invisible_time_changes() -> None:
    seen: list[int] = []
    listener(fail=1).receive([message(1)], seen.append)
    assert seen == []


def test_without_auto_commit_the_named_message_commits_and_its_batch_with_it() -> None:
    by_hand = listener(auto_commit=False, commit=["orders-2"])
    assert not by_hand.commits([message(1)])
    assert by_hand.commits([message(1), message(2)])
    assert not listener(auto_commit=False).commits([message(1)])
    assert listener(auto_commit=False, commit="all").commits([message(1)])
    assert not listener().commits([message(1)])
