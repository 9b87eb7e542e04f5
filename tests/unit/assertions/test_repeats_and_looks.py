"""The checks about repeats and about several looks, on hand-made histories: each holds, fails, or can't say."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.harness.core.model import Holds
from tests.unit.assertions.over_time import NO, UNKNOWN, YES, Story


def tracked(*tracks: str) -> Story:
    story = Story().sent(1)
    for track in tracks:
        story.add("harness", "tracks-observed", topic="orders", key="orders-1", tracks={"g": track})
    return story.moment("end")


@pytest.mark.parametrize(
    ("tracks", "holds"),
    [
        (["NOT_CONSUME_YET", "NOT_CONSUME_YET", "CONSUMED"], YES),
        (["NOT_CONSUME_YET"], UNKNOWN),
        (["CONSUMED"], UNKNOWN),
        ([], UNKNOWN),
        (["CONSUMED", "NOT_CONSUME_YET"], NO),
        (["NOT_CONSUME_YET", "CONSUMED", "NOT_CONSUME_YET"], NO),
        (["NOT_CONSUME_YET", "CONSUMED_BUT_FILTERED", "CONSUMED"], NO),
    ],
)
def test_a_track_series_is_seen_or_broken_or_was_missed(tracks: list[str], holds: Holds) -> None:
    check = "track-series: {group: g, topic: orders, sequence: [NOT_CONSUME_YET, CONSUMED]}"
    assert tracked(*tracks).holds(check) is holds


def race(b: int, a: int) -> Story:
    story = Story()
    for number, holder in enumerate(["b"] * b + ["a"] * a, start=1):
        story.add("harness", "bound", variable="holder", consumers=[holder])
        moment = {"moment": f"seen-{number}"}
        story.stored("g", {"orders": f"tag{holder.upper()}"}, ["a", "b"], **moment)
        story.moment(f"seen-{number}", name="seen", iteration=number)
    return story.moment("end")


OF_HOLDER = "outcome-distribution: {{of: $holder, {}}}"
OF_STORED = "outcome-distribution: {{group: g, topic: orders, at: seen, {}}}"


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        (OF_HOLDER.format("consumer: b, share_at_least: 0.5"), YES),  # 18 of 20: 0.70 to 0.97
        (OF_HOLDER.format("consumer: b, share_at_least: 0.9"), UNKNOWN),
        (OF_HOLDER.format("consumer: b, share_at_least: 0.98"), NO),
        (OF_HOLDER.format("consumer: a, share_at_most: 0.5"), YES),
        (OF_HOLDER.format("consumer: a, share_at_most: 0.1"), UNKNOWN),
        (OF_HOLDER.format("consumer: a, share_at_most: 0.02"), NO),
        (OF_HOLDER.format("consumer: x, share_at_most: 0.2"), YES),  # 0 of 20: 0.00 to 0.16
        (OF_HOLDER.format("values_at_least: 2"), YES),
        (OF_HOLDER.format("values_at_least: 3"), NO),
        (OF_HOLDER.format("values_at_most: 1"), NO),
        (OF_HOLDER.format("consumer: b, share_at_least: 0.5, values_at_most: 1"), NO),
        (OF_STORED.format("expression: tagB, share_at_least: 0.5"), YES),
        (OF_STORED.format("expression: tagA, share_at_least: 0.5"), NO),
        (OF_STORED.format("values_at_most: 2"), YES),
        (OF_STORED.replace("seen", "end").format("values_at_most: 2"), UNKNOWN),
        (OF_HOLDER.replace("holder", "nobody").format("values_at_most: 2"), UNKNOWN),
    ],
)
def test_a_share_is_held_against_its_interval(question: str, holds: Holds) -> None:
    assert race(18, 2).holds(question) is holds


def test_an_observation_of_a_repeat_means_its_last_iteration() -> None:
    story = race(1, 1)
    check = "subscription: {{group: g, topic: orders, expression: tagA, at: {}}}"
    assert story.holds(check.format("seen")) is YES
    assert story.holds(check.format("seen-2")) is YES
    assert story.holds(check.format("seen-1")) is NO


@pytest.mark.parametrize(
    "check",
    [
        "duplicated: {count: 0}",
        "duplicated: {count: 0, allow_after: never}",
        "order: {topic: orders}",
        "latency: {at_most: 1s}",
        "retry: {group: g, count: 0}",
        "dead-letter: {group: g, count: 0}",
        "track-series: {group: g, topic: orders, sequence: CONSUMED}",
        "outcome-distribution: {of: $holder, values_at_most: 1}",
        "duplicated: {to: $nobody, count: 0}",
        "order: {topic: orders, to: $nobody}",
        "latency: {at_most: 1s, to: $nobody}",
    ],
)
def test_without_the_observation_or_the_variable_nothing_is_known(check: str) -> None:
    story = Story().sent(1).got("a", 1).got("a", 1)
    if "never" in check or "$nobody" in check:
        story.passed().moment("end")
    assert story.holds(check) is UNKNOWN


def look_at(story: Story, key: int, track: str, **more: Any) -> None:
    story.add("harness", "tracks-observed", topic="orders", key=f"orders-{key}", tracks={"g": track}, **more)


def test_tools_may_tell_of_no_such_group() -> None:
    story = Story().sent(1).sent(2)
    story.add(
        "harness", "tracks-observed", topic="orders", key="orders-1", tracks={"h": "UNKNOWN"}, moment="end"
    )
    assert story.holds("track: {group: g, topic: orders, absent: true}") is UNKNOWN
    look_at(story, 2, "CONSUMED", moment="end")
    story.moment("end")
    assert story.holds("track: {group: g, topic: orders, absent: true}") is NO
    story.add("harness", "tracks-observed", topic="orders", key="orders-2", tracks={}, moment="end")
    assert story.holds("track: {group: g, topic: orders, absent: true}") is YES
    assert story.holds("track: {group: g, topic: orders, all: CONSUMED}") is NO


def test_looks_at_one_member_s_queues_leave_the_others_out() -> None:
    """a owns queue 0, which has not been passed; b queue 1, which has."""
    story = Story()
    story.owns(story.scenario, "a", "orders", [0])
    story.owns(story.scenario, "b", "orders", [1])
    story.sent(1, queue=0).sent(2, queue=1)
    look_at(story, 1, "NOT_CONSUME_YET", moment="end")
    look_at(story, 2, "NOT_CONSUME_YET")
    look_at(story, 2, "CONSUMED", moment="end")
    story.offsets("g", "orders", [(0, 1), (1, 1)], moment="end")
    story.moment("end")
    of = "group: g, topic: orders, queues_of"
    assert story.holds(f"offsets: {{{of}: a, lag: 1}}") is YES
    assert story.holds(f"offsets: {{{of}: b, lag: 1}}") is NO
    assert story.holds(f"offsets: {{{of}: $holder, lag: 1}}") is UNKNOWN
    assert story.holds(f"track: {{{of}: b, all: CONSUMED}}") is YES
    assert story.holds(f"track: {{{of}: a, all: CONSUMED}}") is NO
    assert story.holds(f"track: {{{of}: $holder, all: CONSUMED}}") is UNKNOWN
    series = "sequence: [NOT_CONSUME_YET, CONSUMED]"
    assert story.holds(f"track-series: {{{of}: b, {series}}}") is YES
    assert story.holds(f"track-series: {{{of}: a, sequence: [CONSUMED]}}") is NO
    assert story.holds(f"track-series: {{{of}: $holder, {series}}}") is UNKNOWN
