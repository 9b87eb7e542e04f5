"""What is delivered once more."""

from __future__ import annotations

import dataclasses

import pytest

from rocketchaos.harness.nightly.invariants.repeated import Repeated
from tests.unit.history_builder import BROKER
from tests.unit.nightly.stories import Story, causes, kill


def twice(at: float = 15.0) -> Story:
    story = Story().looks("*", 2.0).sends("tagB", 10.0).got("a", 1, 0)
    return story.at(at).got("b", 1, 0)  # type: ignore[attr-defined, no-any-return]


def test_a_repeat_without_any_reason() -> None:
    assert causes(twice().ends("*"), Repeated()) == ["nothing had moved a queue"]


@pytest.mark.parametrize(
    ("strategy", "owned", "cause"),
    [
        (
            "average-by-circle",
            [0, 1],
            "two members consume its queue; the members differ in their allocation",
        ),
        ("average", [0, 1], "two members consume its queue; the members agree"),
        ("average-by-circle", [1], "nothing had moved a queue"),
    ],
)
def test_a_repeat_by_two_owners_of_a_queue_tells_why_there_are_two(
    strategy: str, owned: list[int], cause: str
) -> None:
    story = Story(b=f"{{orders: '*'}}, strategy: {strategy}").at(2.0)
    story.owns(story.scenario, "a", "orders", [0])
    story.owns(story.scenario, "b", "orders", owned)
    story.sends("tagB", 10.0).got("a", 1, 0).got("b", 1, 0).at(20.0)
    story.owns(story.scenario, "b", "orders", owned, moment="end")
    assert causes(story.end_of_run(), Repeated()) == [cause]


@pytest.mark.parametrize(("checks", "expected"), [(1, ["nothing had moved a queue"]), (2, [])])
def test_a_transaction_may_be_stored_as_often_as_it_is_committed(checks: int, expected: list[str]) -> None:
    story = Story().looks("*", 2.0).sends("tagB", 10.0)
    for _ in range(checks):
        story.add("producer", "transaction-checked", topic="orders", key="orders-1", state="commit")
    story.got("a", 1, 0).at(15.0)
    assert causes(story.got("b", 1, 0).ends("*"), Repeated()) == expected


def test_a_retry_is_no_repeat() -> None:
    story = Story().looks("*", 2.0).sends("tagB", 10.0).got("a", 1, 0)
    story.at(15.0)
    assert causes(story.got("b", 1, 0, reconsume_times=1).ends("*"), Repeated()) == []


@pytest.mark.parametrize(
    ("answer", "expected"), [("RECONSUME_LATER", []), ("CONSUME_SUCCESS", ["nothing had moved a queue"])]
)
def test_a_retry_may_be_sent_back_twice_and_nothing_else(answer: str, expected: list[str]) -> None:
    story = Story().looks("*", 2.0).sends("tagB", 10.0).got("a", 1, 0)
    story.events[-1] = dataclasses.replace(story.events[-1], data={**story.events[-1].data, "status": answer})
    for at in (15.0, 16.0):
        story.at(at)
        story.got("b", 1, 0, reconsume_times=1)
    assert causes(story.ends("*"), Repeated()) == expected


@pytest.mark.parametrize("target", ["a", BROKER])
def test_a_repeat_after_a_kill_of_a_member_or_a_broker(target: str) -> None:
    story = Story().looks("*", 2.0).sends("tagB", 10.0).got("a", 1, 0)
    kill(story, target, 12.0).at(15.0)
    assert causes(story.got("b", 1, 0).ends("*"), Repeated()) == []


@pytest.mark.parametrize(("text", "expected"), [(True, []), (False, ["nothing had moved a queue"])])
def test_a_repeat_while_a_member_is_still_stopping(text: bool, expected: list[str]) -> None:
    story = Story().looks("*", 2.0).sends("tagB", 10.0).got("a", 1, 0).at(12.0)
    if text:
        story.add("a", "consumer-stopping")
    story.at(12.1).got("b", 1, 0).at(12.2).add("a", "consumer-stopped")
    assert causes(story.ends("*"), Repeated()) == expected


def test_a_repeat_after_a_change_of_queues_that_was_only_seen() -> None:
    story = Story().looks("*", 2.0).sends("tagB", 10.0).got("a", 1, 0)
    story.at(12.0).owns(story.scenario, "a", "orders", [])
    assert causes(story.got("b", 1, 0).ends("*"), Repeated()) == []


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ({"look_began_before_ms": 600}, []),
        ({"look_began_before_ms": 200}, ["nothing had moved a queue"]),
        ({}, []),  # the look before, which was written down at 2 s, is all that is known
    ],
)
def test_a_connection_that_is_seen_to_be_another_one_ended_at_any_time_since_the_look_before(
    before: dict[str, float], expected: list[str]
) -> None:
    story = Story().looks("*", 1.5).at(2.0)
    story.stored("g", {"orders": "*"}, ["a", "b"], addresses=["127.0.0.1:1", "127.0.0.1:2"])
    story.sends("tagB", 9.9).at(10.0)
    story.got("a", 1, 0).at(12.2)
    story.got("b", 1, 0).at(12.5)
    story.stored("g", {"orders": "*"}, ["b"], addresses=["127.0.0.1:2"], **before)
    story.at(12.7).stored(
        "g", {"orders": "*"}, ["a", "b"], addresses=["127.0.0.1:2", "127.0.0.1:3"], **before
    )
    assert causes(story.end_of_run(), Repeated()) == expected


@pytest.mark.parametrize(("done", "expected"), [(True, ["nothing had moved a queue"]), (False, [])])
def test_a_change_of_queues_came_of_what_was_done_meanwhile(done: bool, expected: list[str]) -> None:
    story = Story().looks("*", 2.0).sends("tagB", 20.0).got("a", 1, 0).at(22.0)
    story.got("b", 1, 0)
    if done:
        kill(story, "b", 40.0)
    story.at(41.0).owns(story.scenario, "a", "orders", [0, 1])
    assert causes(story.end_of_run(), Repeated()) == expected


def test_a_repeat_of_what_was_not_acknowledged() -> None:
    story = Story().looks("*", 2.0).sends("tagB", 10.0)
    story.add(
        "producer", "send-failed", topic="orders", key="orders-1", tag="tagB", error="timeout", code=None
    )
    story.got("a", 1, 0).at(15.0)
    assert causes(story.got("b", 1, 0).ends("*"), Repeated()) == []
