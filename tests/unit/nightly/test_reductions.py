"""Smaller scenarios: each way makes something less, and the search ends at what can't be made smaller."""

from __future__ import annotations

import pytest

from harness.nightly.document import Document, document_of, text_of
from harness.nightly.generator import draw
from harness.nightly.profile import Profile
from harness.nightly.reductions import REDUCTIONS
from harness.nightly.restate import restated, with_expectation
from harness.nightly.shrink import Shrinking, Trust, is_valid, measured, trust_of
from harness.spec import parse_scenario
from tests.unit.nightly.test_invariants import half_lost

LARGE = """\
name: nightly-7-1
title: large
description: drawn
marks: [nightly]
cluster: {brokers: [broker-a, broker-b]}
topics:
  orders: {queues: 4}
  bills: {queues: 2}
consumers:
  a: {group: g1, subscribe: {orders: tagA, bills: '*'}, batch_size: 4}
  b: {group: g1, subscribe: {orders: tagB}, behaviour: {fail: 1}, retry_delay_level: 1}
  c: {group: g2, subscribe: {bills: '*'}}
steps:
  - start: [a, b, c]
  - settle: {ownership: g1, within: 90s}
  - settle: {ownership: g2, within: 90s}
  - parallel:
      - - send: {topic: orders, tags: [tagA, tagB], count: 40, every: 50ms}
      - - wait: {duration: 1500ms, because: so long messages flow undisturbed}
        - kill: a
        - start: a
  - settle: {ownership: g1, within: 90s}
  - send: {topic: orders, tag: tagB, count: 32, per_queue: 4}
  - send: {topic: bills, tag: tagA, count: 8, per_queue: 2}
  - settle: {sealed: g1, within: 180s}
  - settle: {sealed: g2, within: 180s}
anomaly:
  - undelivered: {at_least: 1}
healthy:
  - undelivered: {count: 0}
tendency:
  - log: {node: broker-a, matches: 'subscription not exist, group: g1', at_least: 1}
  - log: {node: broker-b, matches: 'subscription not exist, group: g2', at_least: 1}
expected: measured
"""


def large() -> Document:
    return document_of(LARGE, "large")


def candidates(name: str, document: Document | None = None) -> list[Document]:
    return [one for one in REDUCTIONS[name](document or large()) if is_valid(one)]


def test_the_example_is_valid_and_written_as_it_was_read() -> None:
    parse_scenario(LARGE, "large")
    assert text_of(large()) == LARGE


@pytest.mark.parametrize("name", REDUCTIONS)
def test_each_way_gives_something_smaller_and_leaves_the_original_alone(name: str) -> None:
    document = large()
    found = candidates(name, document)
    assert found
    assert text_of(document) == LARGE
    assert all(text_of(one) != LARGE for one in found)


def test_with_a_group_its_members_steps_and_checks_go() -> None:
    (without_g1, without_g2) = candidates("groups")
    assert "g1" not in text_of(without_g1)
    assert "g2" not in text_of(without_g2)
    assert list(without_g2["consumers"]) == ["a", "b"]


def test_with_a_topic_go_those_who_want_nothing_else() -> None:
    without_orders = next(one for one in candidates("topics") if "orders" not in one["topics"])
    assert list(without_orders["consumers"]) == ["a", "c"]
    assert without_orders["consumers"]["a"]["subscribe"] == {"bills": "*"}


@pytest.mark.parametrize("word", ["kill", "terminate", "stop"])
def test_with_a_fault_goes_the_coming_back_but_not_the_first_start(word: str) -> None:
    (quiet,) = candidates("faults", document_of(LARGE.replace("kill: a", f"{word}: a"), "large"))
    text = text_of(quiet)
    assert f"{word}: " not in text
    assert text.count("start: ") == 1


def test_a_parallel_may_become_its_steps_one_after_the_other() -> None:
    assert any("parallel" not in text_of(one) and "kill: a" in text_of(one) for one in candidates("steps"))


def test_fewer_queues_and_brokers_mean_fewer_messages_of_so_many_a_queue() -> None:
    fewer = next(one for one in candidates("queues") if one["topics"]["orders"]["queues"] == 1)
    assert "count: 8, per_queue: 4" in text_of(fewer)
    alone = next(one for one in candidates("properties") if "cluster" not in one)
    assert "broker-b" not in text_of(alone)


def test_waits_become_half_as_long() -> None:
    assert any("duration: 700ms" in text_of(one) for one in candidates("waits"))


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
        shows_half_lost(one) for way in REDUCTIONS.values() for one in way(smallest) if is_valid(one)
    )


def test_the_search_ends_when_the_time_is_up() -> None:
    asked: list[Document] = []

    def never(document: Document) -> bool:
        asked.append(document)
        return False

    search = Shrinking(large(), never, Trust(1, 1), within_s=-1)
    assert search.run() == large()
    assert asked == []


def test_nothing_is_run_twice() -> None:
    asked: list[str] = []

    def shows(document: Document) -> bool:
        asked.append(str([document.get(key) for key in ("cluster", "topics", "consumers", "steps")]))
        return shows_half_lost(document)

    Shrinking(large(), shows, Trust(1, 1)).run()
    assert len(asked) == len(set(asked)) > 20


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


def test_what_races_may_race_in_the_smaller_one_too() -> None:
    assert [trust_of(shown, 3) for shown in range(4)] == [None, Trust(1, 3), Trust(1, 3), Trust(3, 3)]


@pytest.mark.parametrize(
    ("answers", "found"),
    [([1, 0, 1], (2, 3)), ([0, 0, 0, 0, 1], (1, 5)), ([0] * 12, (0, 12))],
)
def test_what_does_not_show_at_once_is_run_some_more(answers: list[int], found: tuple[int, int]) -> None:
    left = list(answers)
    assert measured({}, lambda _document: bool(left.pop(0)), 3) == found
    assert left == []


@pytest.mark.parametrize("number", range(1, 6))
def test_what_is_drawn_can_be_shrunk_to_nearly_nothing(number: int) -> None:
    drawn = draw(7, number, Profile())
    smallest = Shrinking(drawn, lambda _document: True, Trust(1, 1)).run()
    assert len(smallest["consumers"]) == len(smallest["topics"]) == len(smallest["steps"]) == 1


def test_the_result_states_the_finding_by_checks() -> None:
    (finding,) = half_lost().found()
    document = document_of(LARGE.replace("group: g1", "group: g").replace(": g1,", ": g,"), "large")
    document = with_expectation(restated(document, finding, "Shrunk from nightly-7-1"), 3, 3)
    scenario = parse_scenario(text_of(document), "shrunk")
    assert (
        scenario.title
        == "The queue's owner drops what another member wants; the members differ in their tags"
    )
    assert scenario.name == "wanted-but-not-delivered-7-1"
    assert document["anomaly"][0]["undelivered"]["because"] == "filtered-by-client"
    assert document["expected"] == "reproduced"
    assert "Its checks held in 3 of 3 runs." in scenario.description
    assert with_expectation(document, 2, 3)["expected"] == "measured"
