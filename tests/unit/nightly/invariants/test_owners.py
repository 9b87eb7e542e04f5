"""Queues that several members own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.nightly.invariants.owners import SeveralOwners
from tests.unit.history_builder import BROKER
from tests.unit.nightly.stories import Story, causes, kill, quiet


def owned_twice(at: float, happens: Callable[[Story], object] = lambda _story: None, **who: str) -> Story:
    story = quiet(**who)
    story.events = story.events[:-4]
    happens(story)
    story.at(at).owns(story.scenario, "a", "orders", [0, 1], moment="end")
    story.owns(story.scenario, "b", "orders", [1], moment="end")
    return story.end_of_run()


def test_two_owners_of_a_queue_once_all_has_settled() -> None:
    (breach,) = owned_twice(20.0).breaches(SeveralOwners())
    assert "a and b of g both own broker-a:1 of orders" in breach.sentence


def test_two_owners_come_of_the_allocation_whatever_else_the_members_disagree_about() -> None:
    story = owned_twice(20.0, a="{orders: tagB}", b="{orders: '*'}, strategy: average-by-circle")
    assert causes(story, SeveralOwners()) == ["the members differ in their allocation"]


def test_two_owners_while_a_rebalance_may_be_under_way() -> None:
    assert causes(owned_twice(5.0), SeveralOwners()) == []


def pauses(story: Story) -> None:
    story.fault("injected", "pause", "b", 5.0).fault("effective", "pause", "b", 5.1)


def is_cut_off(story: Story) -> None:
    story.fault("effective", "partition", "b and broker-a", 5.0, sides=["b", BROKER])


def loses_a_broker(story: Story) -> None:
    kill(story, BROKER, 5.0)


def has_a_fault_under_way(story: Story) -> None:
    story.fault("injected", "terminate", "b", 5.0)


def starts_and_starts(story: Story) -> None:
    story.at(5.0).add("b", "consumer-starting", pid=201, subscribe={"orders": "*"})


def stops_and_stops(story: Story) -> None:
    story.at(5.0).add("b", "consumer-stopping")


def has_just_come_back_by_itself(story: Story) -> None:
    story.at(99.0).stored("g", {"orders": "*"}, ["a", "b"], addresses=["1", "3"])


def had_been_killed(story: Story) -> None:
    kill(story, "b", 5.0)


@pytest.mark.parametrize("trouble", [None, Trouble.PRECONDITION])
@pytest.mark.parametrize(
    "what",
    [
        pauses,
        is_cut_off,
        loses_a_broker,
        has_a_fault_under_way,
        starts_and_starts,
        stops_and_stops,
        has_just_come_back_by_itself,
        had_been_killed,
    ],
)
def test_who_may_hold_on_to_what_others_own_by_now_is_no_second_owner(
    what: Callable[[Story], None], trouble: Trouble | None
) -> None:
    assert owned_twice(100.0).found(trouble)
    assert owned_twice(100.0, what).found(trouble) == []


def test_a_connection_of_who_was_started_is_as_old_as_the_start() -> None:
    def starts(story: Story) -> None:
        story.at(13.0)
        story.start(story.scenario, "b")
        before = {"look_began_before_ms": 300}
        story.at(13.2).stored("g", {"orders": "*"}, ["a", "b"], addresses=["1", "3"], **before)

    # The patience is 6 s.
    assert [item.kind for item in owned_twice(19.1, starts).found()] == ["several-owners"]
    assert owned_twice(18.9, starts).found() == []


@pytest.mark.parametrize("how", ["model: broadcasting", "api: pop"])
def test_who_shares_queues_by_design_is_no_second_owner(how: str) -> None:
    wants = f"{{orders: '*'}}, {how}"
    assert owned_twice(200.0, a=wants, b=wants).found(Trouble.PRECONDITION) == []


def test_lite_pull_consumers_own_queues_as_well() -> None:
    wants = "{orders: '*'}, api: lite-pull"
    assert [item.kind for item in owned_twice(100.0, a=wants, b=wants).found(Trouble.PRECONDITION)] == [
        "several-owners"
    ]


def test_two_owners_are_why_a_condition_was_not_reached_and_nothing_else_is_asked_of_such_a_run() -> None:
    story = Story().sends("tagB", 3.0).got("b", 2, 1).passed(4.0)
    story.at(20.0).owns(story.scenario, "a", "orders", [0, 1], moment="end")
    story.owns(story.scenario, "b", "orders", [1], moment="end")
    assert [item.kind for item in story.end_of_run().found()] == ["lost", "several-owners"]
    assert [item.kind for item in story.found(Trouble.PRECONDITION)] == ["several-owners"]
    assert story.found(Trouble.ENVIRONMENT) == []
