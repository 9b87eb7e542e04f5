"""What was passed though no filter can have taken it."""

from __future__ import annotations

import pytest

from rocketchaos.harness.core.model import MessageClass
from rocketchaos.harness.nightly.invariants.lost import Lost
from tests.unit.history_builder import BROKER
from tests.unit.nightly.stories import BY_SQL, Story, causes, kill


def lost(**who: str) -> Story:
    story = Story(**who).looks("*", 2.0).sends("tagB", 3.0).got("b", 2, 1).passed(4.0)
    return kill(story, "a", 5.0).ends("*")


def test_what_was_passed_and_no_filter_can_have_taken_is_lost() -> None:
    (breach,) = lost().breaches(Lost())
    assert breach.cause == "no filter can have taken it; the members agree"
    assert "orders-1" in breach.sentence


def test_that_is_so_whoever_owned_the_queue() -> None:
    story = Story().sends("tagB", 3.0).got("b", 2, 1).passed(4.0).ends("*")
    assert len(causes(story, Lost())) == 1


@pytest.mark.parametrize(
    "who", [{"a": "{orders: tagA}"}, {"a": "{orders: {sql: a = 1}}"}, {"a": "{bills: '*'}"}]
)
def test_where_any_filter_may_have_taken_it_it_is_not_lost(who: dict[str, str]) -> None:
    story = Story(**who).sends("tagB", 3.0).got("b", 2, 1).passed(4.0).ends("*")
    assert causes(story, Lost()) == []


@pytest.mark.parametrize(
    ("stored", "properties", "found"),
    [
        ("a = 1", {"a": "1"}, ["lost: no filter can have taken it; the members agree"]),
        ("a = 1", {"a": "2"}, []),
        ("a = 1", {}, []),
        ("a = 2", {"a": "1"}, []),
        ("a > 0", {"a": "1"}, []),
    ],
)
def test_of_plain_sql_it_is_known_what_it_takes(
    stored: str, properties: dict[str, str], found: list[str]
) -> None:
    story = Story(**BY_SQL).looks("*", 2.0).sends("tagB", 3.0).got("b", 2, 1).passed(4.0)
    assert [item.signature for item in story.ends("*").by_sql(stored, properties).found()] == found


def test_what_matches_the_sql_of_all_is_lost_and_not_taken_by_the_broker() -> None:
    story = Story(**BY_SQL).looks("*", 2.0).sends("tagB", 3.0).got("b", 2, 1).passed(4.0)
    for name, count in (("a", 0), ("b", 1)):
        counts = {"found_pulls": count, "passed_messages": count}
        story.add("harness", "pull-counts-observed", consumer=name, topic="orders", moment="end", **counts)
    story.ends("*").by_sql("a = 1", {"a": "1"})
    assert story.judged.fates[0].message_class is MessageClass.FILTERED_BY_BROKER
    assert [item.kind for item in story.found()] == ["lost"]


def test_where_any_member_may_have_popped_it_it_is_not_lost() -> None:
    popped = "{orders: '*'}, api: pop"
    story = Story(a=popped, b=popped).sends("tagB", 3.0).got("b", 2, 1).passed(4.0).ends("*", 5.0)
    assert causes(story, Lost()) == []


def test_what_a_tool_may_have_passed_over_is_not_lost() -> None:
    story = Story().looks("*", 2.0).sends("tagB", 3.0).got("b", 2, 1)
    story.add("harness", "asked", name="r", of=BROKER, request=222, code=0, status="0")
    assert causes(story.passed(4.0).ends("*"), Lost()) == []


def test_what_a_reset_passed_over_is_not_lost() -> None:
    story = Story().looks("*", 2.0).sends("tagB", 3.0).got("b", 2, 1)
    queues = [{"broker": BROKER, "queue_id": 0, "offset": 1}]
    story.add("harness", "offsets-reset", group="g", topic="orders", queues=queues)
    assert causes(story.passed(4.0).ends("*"), Lost()) == []
