"""Which tag and which queue each message of a `send` gets, and when it is due."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.steps.context import StepContext
from rocketchaos.harness.steps.send import Send

QUEUES = (("broker-a", 0), ("broker-a", 1), ("broker-b", 0), ("broker-b", 1))


class Context:
    """Takes messages down instead of sending them; a clock that a wait moves."""

    def __init__(self, refuses: int = 0) -> None:
        self.sent: list[dict[str, Any]] = []
        self.waits: list[int] = []
        self.clock_ms = 1000.0
        self.producer = SimpleNamespace(send=self._send, last_error="FLUSH_DISK_TIMEOUT")
        self._refuses = refuses
        self.servers = self.variables = self

    def _send(self, topic: str, tag: str | None, queue: Any, **more: Any) -> bool:
        self.sent.append({"topic": topic, "tag": tag, "queue": queue, **more})
        self.clock_ms += 7
        return len(self.sent) > self._refuses

    def queues(self, topic: str) -> Any:
        return QUEUES

    def tag(self, tag: str | None, topic: str) -> str | None:
        return tag

    def now_ns(self) -> int:
        return int(self.clock_ms * 1e6)

    def check_alive(self) -> None:
        """Everything lives."""

    def let_time_pass(self, duration_ms: int) -> None:
        self.waits.append(duration_ms)
        self.clock_ms += duration_ms


def sent_by(fields: dict[str, Any], context: Context | None = None) -> Context:
    made = context or Context()
    Send.model_validate({"topic": "orders", **fields}).run(cast(StepContext, made))
    return made


def test_with_per_queue_each_queue_gets_the_tags_in_turn() -> None:
    sent = sent_by({"count": 16, "per_queue": 4, "tags": ["tagA", "tagB"]}).sent
    for queue in QUEUES:
        assert [item["tag"] for item in sent if item["queue"] == queue] == ["tagA", "tagB", "tagA", "tagB"]


def test_without_queues_the_tags_go_round_and_the_producer_chooses() -> None:
    sent = sent_by({"count": 3, "tags": ["tagA", "tagB"]}).sent
    assert [(item["tag"], item["queue"]) for item in sent] == [("tagA", None), ("tagB", None), ("tagA", None)]


def test_untagged_with_keys_and_properties() -> None:
    sent = sent_by({"count": 1, "keys": "mine", "properties": {"a": "1"}}).sent
    assert sent == [
        {"topic": "orders", "tag": None, "queue": None, "keys": ("mine",), "properties": {"a": "1"}}
    ]


@pytest.mark.parametrize(
    ("fields", "queue"), [({}, ("broker-a", 1)), ({"broker": "broker-b"}, ("broker-b", 1))]
)
def test_one_queue_of_one_broker(fields: dict[str, Any], queue: Any) -> None:
    assert {item["queue"] for item in sent_by({"count": 5, "queue": 1, **fields}).sent} == {queue}


def test_a_rate_is_not_lowered_by_what_a_sending_takes() -> None:
    assert sent_by({"count": 4, "every": "100ms"}).waits == [0, 93, 93, 93]


def test_where_sending_takes_longer_there_is_no_wait() -> None:
    assert sent_by({"count": 3, "every": "5ms"}).waits == [0, 0, 0]


def test_a_message_that_is_not_acknowledged_fails_the_step_after_the_others() -> None:
    context = Context(refuses=2)
    with pytest.raises(PreconditionNotMet, match=r"2 of 4 messages to orders .*: FLUSH_DISK_TIMEOUT"):
        sent_by({"count": 4}, context)
    assert len(context.sent) == 4


def test_where_a_sending_may_fail_the_run_goes_on_after_the_others() -> None:
    assert len(sent_by({"count": 4, "may_fail": True}, Context(refuses=4)).sent) == 4
