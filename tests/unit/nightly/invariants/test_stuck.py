"""What waits though all want it."""

from __future__ import annotations

import pytest

from rocketchaos.harness.nightly.invariants.stuck import Stuck
from tests.unit.nightly.stories import BY_SQL, Story, causes


def waiting(at: float = 20.0, **who: str) -> Story:
    story = Story(**who).looks("*", 2.0).sends("tagB", 3.0).got("b", 2, 1)
    return story.passed(4.0, (0, 1)).ends("*", at)


def test_what_waits_for_members_of_one_mind_and_nothing_happens_is_stuck() -> None:
    (breach,) = waiting().breaches(Stuck())
    assert "orders-1" in breach.sentence


def test_what_was_sent_just_now_is_not_stuck() -> None:
    assert causes(waiting(at=5.0), Stuck()) == []


def test_what_the_owner_does_not_want_may_wait() -> None:
    assert causes(waiting(a="{orders: tagA}", b="{orders: tagA}"), Stuck()) == []


@pytest.mark.parametrize(("properties", "found"), [({"a": "1"}, 1), ({"a": "2"}, 0)])
def test_what_matches_the_sql_of_all_is_stuck(properties: dict[str, str], found: int) -> None:
    assert len(causes(waiting(**BY_SQL).by_sql("a = 1", properties), Stuck())) == found


@pytest.mark.parametrize(
    ("listener", "who", "found"),
    [("concurrent", "a", 0), ("concurrent", "b", 1), ("orderly", "a", 0), ("orderly", "b", 0)],
)
def test_a_blocked_listener_holds_up_what_is_its_own(listener: str, who: str, found: int) -> None:
    # orders-1 waits in a's queue; an orderly listener may hold the lock of any.
    wants = f"{{orders: '*'}}, listener: {listener}"
    story = Story(a=wants, b=wants).looks("*", 2.0).sends("tagB", 3.0).got("b", 2, 1)
    story.add(who, "blocked", key="orders-9")
    assert len(causes(story.passed(4.0, (0, 1)).ends("*", 90.0), Stuck())) == found
