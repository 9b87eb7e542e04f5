"""What somebody gets who never subscribed to it."""

from __future__ import annotations

import pytest

from rocketchaos.harness.nightly.invariants.cross import CrossDelivery
from tests.unit.nightly.stories import MISMATCH, Story, causes


@pytest.mark.parametrize(("times", "way"), [(1, "through the retry topic"), (0, "straight from its queue")])
def test_a_tag_to_which_a_member_never_subscribed(times: int, way: str) -> None:
    story = Story(**MISMATCH).looks("tagB", 2.0).sends("tagB", 3.0).got("b", 1, 0).got("b", 2, 1)
    story.got("a", 1, 0, reconsume_times=times)
    (breach,) = story.passed(4.0).ends("tagB").breaches(CrossDelivery())
    assert breach.cause == f"{way}, of a tag to which it doesn't subscribe"
    assert breach.anomaly[0]["delivered"] == {"to": "a", "topic": "orders", "tag": "tagB", "at_least": 1}


def test_a_topic_to_which_it_never_subscribed() -> None:
    story = Story(a="{bills: '*'}").looks("*", 2.0).sends("tagB", 3.0).got("a", 1, 0, reconsume_times=1)
    assert causes(story.ends("*"), CrossDelivery()) == [
        "through the retry topic, of a topic to which it doesn't subscribe"
    ]


def test_what_it_had_subscribed_to_before_is_its_own() -> None:
    story = Story(**MISMATCH).looks("tagB", 2.0)
    story.add("a", "subscribed", topic="orders", expression="tagB")
    story.add("a", "subscribed", topic="orders", expression="tagC")
    story.sends("tagB", 3.0).got("a", 1, 0, reconsume_times=1)
    assert causes(story.ends("tagB"), CrossDelivery()) == []
