"""What a member wanted and nobody got."""

from __future__ import annotations

from rocketchaos.harness.nightly.invariants.wanted import WantedButNotDelivered
from tests.unit.nightly.stories import MISMATCH, Story, causes, half_lost, kill


def test_what_the_owner_drops_and_another_member_wants_is_found_with_its_cause() -> None:
    (breach,) = half_lost().breaches(WantedButNotDelivered())
    assert breach.cause.startswith("filtered-by-client: ")
    assert breach.cause.endswith("the members differ in their tags")
    assert "orders-1 (tag tagB), which b wanted" in breach.sentence
    assert breach.anomaly[0]["undelivered"]["because"] == "filtered-by-client"
    assert breach.events


def test_what_the_stored_tag_passes_over_is_another_cause() -> None:
    story = Story(**MISMATCH).looks("tagB", 2.0).sends("tagA", 3.0).passed(4.0).ends("tagB")
    assert [cause.partition(":")[0] for cause in causes(story, WantedButNotDelivered())] == [
        "filtered-by-broker"
    ]


def test_what_nobody_wants_is_not_missed() -> None:
    story = Story(**MISMATCH).looks("tagB", 2.0).sends("tagX", 3.0).passed(4.0).ends("tagB")
    assert causes(story, WantedButNotDelivered()) == []


def test_where_who_wanted_it_had_gone_before_nobody_misses_it() -> None:
    story = Story(**MISMATCH).looks("tagB", 2.0)
    kill(story, "b", 2.5).sends("tagB", 3.0).passed(4.0).ends("tagB")
    assert causes(story, WantedButNotDelivered()) == []


def test_who_had_left_and_come_back_meanwhile_did_not_want_it_all_the_time() -> None:
    story = Story(**MISMATCH).looks("tagB", 2.0).sends("tagB", 3.0).got("b", 2, 1)
    story.at(3.3).add("b", "consumer-stopped")
    story.at(3.5)
    story.start(story.scenario, "b")
    assert causes(story.passed(4.0).ends("tagB"), WantedButNotDelivered()) == []


def test_what_nobody_can_know_is_no_finding() -> None:
    # Without the look before the sending nobody knows what was stored, nor who owned the queue.
    story = Story(**MISMATCH).sends("tagB", 3.0).looks("tagB", 3.5).got("b", 2, 1).passed(4.0).ends("tagB")
    assert story.found() == []


def stranded(end: float) -> Story:
    """A message in the queue that on paper belongs to a, who subscribes to another topic."""
    story = Story(a="{bills: '*'}", b="{orders: '*'}")
    for at, moment in ((2.0, None), (end, "end")):
        named = {} if moment is None else {"moment": moment}
        if moment is not None:
            story.sends("tagB", 3.0).got("b", 2, 1).passed(4.0, (0, 1))
        story.at(at).stored("g", {"orders": "*"}, ["a", "b"], **named)
        story.owns(story.scenario, "a", "orders", [], **named)
        story.owns(story.scenario, "b", "orders", [1], **named)
    return story.end_of_run()


def test_what_waits_where_nobody_consumes_is_found_once_nothing_can_come_any_more() -> None:
    (cause,) = causes(stranded(20.0), WantedButNotDelivered())
    assert cause.startswith("stranded: ")
    assert causes(stranded(5.0), WantedButNotDelivered()) == []
