"""The oracle where a group's settings leave a message no attempt: the proxy makes it a dead letter at once."""

from __future__ import annotations

from rocketchaos.harness.core.model import MessageClass, MessageFate
from tests.unit.assertions.test_shared_queues import GRPC, POP, Story, both


def without_attempts(text: str, retry_max_times: int, letters: int) -> MessageFate:
    """The fate of a message that both may get, of a group with this setting and this many dead letters."""
    story = Story(*both(text, "tagB", "tagB"))
    settings = {"retryMaxTimes": retry_max_times}
    story.made.add("harness", "group-configured", group="g", settings=settings, brokers=["broker-a"])
    story.sent().passed()
    story.made.at(20).add("harness", "dead-letters-observed", group="g", moment="end", count=letters)
    return story.later(100).fate()


def test_a_group_without_attempts_has_dead_letters_that_no_listener_got() -> None:
    given_up = without_attempts(GRPC, -1, 1)
    assert (given_up.message_class, given_up.deliveries) == (MessageClass.DEAD_LETTER, ())
    assert "the group's retryMaxTimes is -1: the proxy gives its messages no attempt" in given_up.reason
    fewer = without_attempts(GRPC, -1, 0)
    assert fewer.message_class is MessageClass.UNDETERMINED
    # Without the proxy nobody counts attempts before the first, and 0 retries are one attempt.
    assert without_attempts(POP, -1, 1).message_class is MessageClass.LOST
    assert without_attempts(GRPC, 0, 1).message_class is MessageClass.LOST


def failed_for_good(text: str, reconsume_times: int, letters: int) -> MessageFate:
    """The fate of a message whose listener fails at this attempt, of a group with two retries."""
    story = Story(*both(text, "tagB", "tagB"))
    settings = {"retryMaxTimes": 2}
    story.made.add("harness", "group-configured", group="g", settings=settings, brokers=["broker-a"])
    story.sent().passed()
    where = {"topic": "orders", "tag": "tagB", "broker": "broker-a", "queue_id": 0, "offset": 0}
    again = {"reconsume_times": reconsume_times}
    story.made.at(10).add("a", "received", key="orders-1", msg_id="1", offset_msg_id=None, **where, **again)
    story.made.add("a", "consumed", key="orders-1", msg_id="1", offset_msg_id=None, status="RECONSUME_LATER")
    story.made.at(20).add("harness", "dead-letters-observed", group="g", moment="end", count=letters)
    return story.later(21).fate()


def test_a_grpc_member_s_message_is_a_dead_letter_after_the_group_s_retries() -> None:
    assert failed_for_good(GRPC, 2, 1).message_class is MessageClass.DEAD_LETTER
    assert failed_for_good(GRPC, 1, 1).message_class is not MessageClass.DEAD_LETTER
    assert failed_for_good(GRPC, 2, 0).message_class is not MessageClass.DEAD_LETTER
    # Of others their client's own limit counts.
    assert failed_for_good(POP, 2, 1).message_class is not MessageClass.DEAD_LETTER
