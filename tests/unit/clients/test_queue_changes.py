"""Whether a change of queues is seen while a member is in the midst of it."""

from __future__ import annotations

from rocketchaos.harness.clients.queue_changes import QueueChanges

FIRST, SECOND = ("broker-a", 0), ("broker-a", 1)


def test_queues_that_came_since_the_start_say_that_the_version_will_rise() -> None:
    changes = QueueChanges({"orders": 1})
    assert changes.under_way("orders", 1, (FIRST,))
    assert changes.under_way("orders", 1, (FIRST,))
    assert not changes.under_way("orders", 2, (FIRST,))


def test_a_member_without_a_share_is_in_no_change() -> None:
    assert not QueueChanges({"orders": 1}).under_way("orders", 1, ())


def test_other_queues_than_those_of_its_version_are_a_change() -> None:
    changes = QueueChanges({"orders": 1})
    assert not changes.under_way("orders", 2, (FIRST, SECOND))
    assert not changes.under_way("orders", 2, (FIRST, SECOND))
    assert changes.under_way("orders", 2, (FIRST,))
    assert not changes.under_way("orders", 3, (FIRST,))


def test_an_answer_of_two_moments_is_no_evidence() -> None:
    """As 5.5.0 gave it: the last queue came, and the subVersion rose, while the client put its answer together."""
    changes = QueueChanges({"orders": 1})
    assert not changes.under_way("orders", 2, (FIRST,))
    assert not changes.under_way("orders", 2, (FIRST, SECOND))
    assert not changes.under_way("orders", 2, (FIRST, SECOND))


def test_topics_are_told_apart() -> None:
    changes = QueueChanges({"orders": 1, "bills": 1})
    assert changes.under_way("orders", 1, (FIRST,))
    assert not changes.under_way("bills", 1, ())


def test_where_the_client_shows_no_version_nothing_is_seen() -> None:
    changes = QueueChanges({})
    for queues in ((FIRST,), (FIRST,), (SECOND,)):
        assert not changes.under_way("orders", 1, queues)
