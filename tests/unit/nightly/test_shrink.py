"""The search for the smallest: what it tries, what it trusts, and when it ends."""

from __future__ import annotations

import pytest

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.nightly.document import WHAT_RUNS, Document, text_of
from rocketchaos.harness.nightly.generator import draw
from rocketchaos.harness.nightly.profile import Profile
from rocketchaos.harness.nightly.reductions import REDUCTIONS
from rocketchaos.harness.nightly.restate import opened
from rocketchaos.harness.nightly.shrink import Shrinking, TimeIsUp, Trust, is_valid, measured, trust_of
from tests.unit.nightly.documents import large, words


def shows_half_lost(document: Document) -> bool:
    """As if the finding needed b, its tag, one sending of that and one of two queues."""
    text = text_of(document)
    orders = document["topics"].get("orders", {})
    return (
        "a: {group: g1" in text
        and "subscribe: {orders: tagB}" in text
        and "tag: tagB" in text
        and (orders.get("queues", 0) >= 2)
    )


def test_the_search_ends_at_what_is_needed_and_nothing_else() -> None:
    search = Shrinking(large(), shows_half_lost, Trust(1, 1))
    smallest = search.run()
    assert shows_half_lost(smallest)
    assert is_valid(smallest)
    assert list(smallest["consumers"]) == ["a", "b"]
    assert list(smallest["topics"]) == ["orders"]
    assert smallest["topics"]["orders"] == {"queues": 2}
    assert "cluster" not in smallest
    assert len(smallest["steps"]) <= 3
    assert not any(
        shows_half_lost(item) for way in REDUCTIONS.values() for item in way(smallest) if is_valid(item)
    )


def test_the_search_ends_when_the_time_is_up() -> None:
    asked: list[Document] = []

    def never(document: Document) -> bool:
        asked.append(document)
        return False

    search = Shrinking(large(), never, Trust(1, 1), is_late=lambda: True)
    assert search.run() == large()
    assert asked == []
    assert not search.in_time


def test_a_candidate_of_which_the_time_keeps_from_knowing_changes_nothing() -> None:
    def late(_document: Document) -> bool:
        raise TimeIsUp

    search = Shrinking(large(), late, Trust(1, 1))
    assert search.run() == large()
    assert not search.in_time


def test_nothing_is_run_twice() -> None:
    asked: list[str] = []

    def shows(document: Document) -> bool:
        asked.append(str([document.get(key) for key in WHAT_RUNS]))
        return shows_half_lost(document)

    search = Shrinking(large(), shows, Trust(1, 1))
    search.run()
    assert len(asked) == len(set(asked)) > 20
    assert search.in_time


@pytest.mark.parametrize(
    ("answers", "trust", "holds", "runs"),
    [
        ([True, True, True], Trust(3, 3), True, 3),
        ([True, False, True], Trust(3, 3), False, 2),
        ([False, True, True], Trust(2, 3), True, 3),
        ([False, False, True], Trust(2, 3), False, 2),
        ([True], Trust(1, 3), True, 1),
    ],
)
def test_a_candidate_is_run_until_it_is_decided(
    answers: list[bool], trust: Trust, holds: bool, runs: int
) -> None:
    left = list(answers)
    assert trust.holds({}, lambda _document: left.pop(0)) is holds
    assert len(answers) - len(left) == runs


def test_what_races_may_race_in_the_smaller_one_too_but_not_show_it_far_less() -> None:
    assert [trust_of(shown, 3) for shown in range(4)] == [None, Trust(1, 3), Trust(2, 3), Trust(3, 3)]
    assert [trust_of(shown, 8) for shown in (1, 2, 3, 7, 8)] == [Trust(n, 8) for n in (1, 2, 2, 6, 8)]


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ([1, 0, 1], (2, 3)),
        ([1, 0, 0, 1], (2, 4)),
        ([0, 0, 0, 0, 1, 0, 1], (2, 7)),
        ([0, 1, *[0] * 10], (1, 12)),
        ([0] * 12, (0, 12)),
    ],
)
def test_what_shows_too_seldom_at_first_is_run_some_more(answers: list[int], found: tuple[int, int]) -> None:
    left = list(answers)
    assert measured({}, lambda _document: bool(left.pop(0)), 3) == found
    assert left == []


def test_the_original_is_measured_as_long_as_there_is_time() -> None:
    left = [False, True]

    def shows(_document: Document) -> bool:
        if not left:
            raise TimeIsUp
        return left.pop(0)

    assert measured({}, shows, 3) == (1, 2)


@pytest.mark.parametrize("number", range(1, 6))
def test_what_is_drawn_can_be_shrunk_to_nearly_nothing(number: int) -> None:
    drawn = draw(7, number, Profile())
    smallest = Shrinking(drawn, lambda _document: True, Trust(1, 1)).run()
    assert len(smallest["consumers"]) == len(smallest["topics"]) == len(smallest["steps"]) == 1


@pytest.mark.parametrize("operation", ["partition", "loss", "reset", "delay"])
def test_what_is_drawn_for_containers_can_be_shrunk_to_nearly_nothing(operation: str) -> None:
    profile = Profile.model_validate({"operations": {operation: 1}, "dimensions": {"operations": {"2": 1}}})
    drawn = [draw(7, number, profile, ClusterKind.CONTAINERS) for number in range(1, 6)]
    assert any(operation in text_of(item) for item in drawn)
    for document in map(opened, drawn):
        smallest = Shrinking(document, lambda _document: True, Trust(1, 1)).run()
        assert len(smallest["consumers"]) == len(smallest["topics"]) == len(smallest["steps"]) == 1
        assert "workers" not in smallest


@pytest.mark.parametrize("operation", ["partition", "loss", "reset", "delay"])
def test_the_fault_that_a_finding_takes_stays_in_its_containers(operation: str) -> None:
    profile = Profile.model_validate(
        {"operations": {operation: 1, "kill": 1}, "dimensions": {"operations": {"3": 1}}}
    )
    drawn = (draw(7, number, profile, ClusterKind.CONTAINERS) for number in range(1, 40))
    document = opened(next(item for item in drawn if operation in words(item) and "kill" in words(item)))
    smallest = Shrinking(document, lambda item: operation in words(item), Trust(1, 1)).run()
    assert words(smallest).count(operation) == 1
    assert not {"kill", "wait", "send", "settle"} & set(words(smallest))
    if operation != "delay":
        assert smallest["workers"] == "containers"


@pytest.mark.parametrize(
    ("trust", "shown", "of", "shaken"),
    [
        (Trust(3, 3), 2, 3, False),
        (Trust(3, 3), 1, 3, True),
        (Trust(3, 3), 1, 12, True),
        (Trust(2, 12), 1, 12, False),
        (Trust(2, 12), 0, 12, True),
        (Trust(3, 3), 0, 0, False),
    ],
)
def test_what_shows_less_than_half_of_what_was_trusted_is_shaken(
    trust: Trust, shown: int, of: int, shaken: bool
) -> None:
    assert trust.is_shaken(shown, of) is shaken
