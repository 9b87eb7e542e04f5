"""The oracle where a listener panics: its client keeps the message."""

from __future__ import annotations

from rocketchaos.assertions.attempts import awaiting_retry
from rocketchaos.harness.core.model import MessageClass
from tests.unit.assertions.test_oracle import Story


def test_what_a_go_listener_panicked_on_is_with_its_client() -> None:
    story = Story(a="orders: tagB}, client: go, behaviour: {fail: 1, by: exception").sent()
    received = {"topic": "orders", "key": "orders-1", "tag": "tagB", "broker": "broker-a", "queue_id": 0}
    story.made.add("a", "received", **received, offset=0, reconsume_times=0)
    story.made.add("a", "consumed", key="orders-1", status="PANIC")
    fate = story.fate()
    assert fate.message_class is MessageClass.DELIVERED
    assert "its client keeps it" in fate.reason
    assert awaiting_retry(story.view, "g", story.made.events[-1].n) == []
