"""`reset-offset`: the offset of each queue that the brokers are asked to store."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.events.messages import OffsetsReset
from rocketchaos.harness.core.names import Names
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.remoting import Answer
from rocketchaos.harness.steps.reset_offset import ResetOffset

STORE, STORED, MAX, MIN = 15, 14, 30, 31


class Context:
    """As much of a run's context as the step needs: a topic of two queues on one broker."""

    def __init__(self) -> None:
        self.names = Names("tok")
        self.servers = self
        self.broker_addresses = {"broker-a": "broker-a:1"}
        self.written: list[OffsetsReset] = []
        self.history = SimpleNamespace(append=lambda _node, body: self.written.append(body))

    def queues(self, _topic: str) -> list[tuple[str, int]]:
        return [("broker-a", 0), ("broker-a", 1)]


def reset(monkeypatch: pytest.MonkeyPatch, to: Any, **ends: Any) -> dict[str, int]:
    """The offsets that were stored, by the queue's id."""
    stored: dict[str, str] = {}

    def ask(_address: str, code: int, fields: Any, _body: bytes) -> Answer:
        queue = fields["queueId"]
        if code == STORE:
            stored[queue] = fields["commitOffset"]
            return Answer(0, "", {}, b"")
        if code == STORED:
            return Answer(0, "", {"offset": stored[queue]}, b"")
        found = ends[{MAX: "end", MIN: "begin"}[code]]
        return Answer(0, "", {"offset": found[queue]}, b"") if found else Answer(1, "no such queue", {}, b"")

    monkeypatch.setattr(remoting, "ask", ask)
    context = Context()
    ResetOffset.model_validate({"group": "g", "topic": "orders", "to": to}).run(cast(Any, context))
    (written,) = context.written
    assert {str(queue.queue_id): str(queue.offset) for queue in written.queues} == stored
    return {queue: int(offset) for queue, offset in stored.items()}


def test_a_number_is_the_offset_of_each_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reset(monkeypatch, 7) == {"0": 7, "1": 7}


def test_each_queue_has_its_own_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = {"begin": {"0": "2", "1": "0"}, "end": {"0": "9", "1": "4"}}
    assert reset(monkeypatch, "begin", **ends) == {"0": 2, "1": 0}
    assert reset(monkeypatch, "end", **ends) == {"0": 9, "1": 4}


def test_an_end_that_its_broker_does_not_tell_breaks_a_precondition(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PreconditionNotMet, match="broker-a doesn't tell the end of orders: 1 no such queue"):
        reset(monkeypatch, "end", end={})
