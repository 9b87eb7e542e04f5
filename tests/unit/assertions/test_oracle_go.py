"""The oracle where a Go client keeps a message that its listener failed, or goes on behind it."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize(
    ("perms", "fields", "passes", "expected"),
    [
        ([4], "client: go", True, MessageClass.LOST),
        ([4], "client: go", False, MessageClass.IN_RETRY),
        ([6], "client: go", True, MessageClass.IN_RETRY),
        ([6, 4], "client: go", True, MessageClass.LOST),
        ([4, 6], "client: go", True, MessageClass.IN_RETRY),
        ([4], "client: go, max_reconsume_times: 0", True, MessageClass.IN_RETRY),
    ],
)
def test_what_failed_is_lost_if_its_retry_topic_may_not_be_written_and_the_offset_passes_it(
    perms: list[int], fields: str, passes: bool, expected: MessageClass
) -> None:
    story = Story(a=f"orders: tagB}}, {fields}, behaviour: {{fail: 99")
    first, *later = [{"perm": perm} for perm in perms]
    story.made.add("harness", "topic-created", topic="%RETRY%g", queues=1, settings=first)
    story.made.add("harness", "topic-created", topic="%RETRY%h", queues=1, settings={"perm": 4})
    for settings in later:
        story.made.add(
            "harness", "topic-configured", topic="%RETRY%g", settings=settings, brokers=["broker-a"]
        )
    story.sent()
    received = {"topic": "orders", "key": "orders-1", "tag": "tagB", "broker": "broker-a", "queue_id": 0}
    story.made.add("a", "received", **received, offset=0, reconsume_times=0)
    story.made.add("a", "consumed", key="orders-1", status="RECONSUME_LATER")
    assert (story.passed() if passes else story).found() is expected
