"""Pulls that brokers refuse on and on."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pytest

from rocketchaos.harness.nightly.invariants.refused import RefusedOnAndOn, line_ms
from tests.unit.history_builder import BROKER
from tests.unit.nightly.stories import Story, causes


def refused(
    *seconds: float,
    text: str = "subscription not exist, group: g, topic:orders",
    falls: int = 2,
    reconnected_since: float | None = None,
) -> Story:
    """Refused pulls at these times; from 9.5 s on looks show that orders is gone, and back, so often.

    `reconnected_since`: a look at 12.5 s shows another connection, and the one before was begun then.
    """
    story = Story(a="{bills: '*'}").looks("*", 2.0)
    for number in range(falls):
        story.at(9.5 + number).stored("g", {"bills": "*"}, ["a", "b"])
        story.at(9.8 + number).stored("g", {"orders": "*"}, ["a", "b"])
    if reconnected_since is not None:
        before = {"look_began_before_ms": (12.501 - reconnected_since) * 1000}
        story.at(12.5).stored("g", {"orders": "*"}, ["a", "b"], addresses=["1", "2"], **before)
    for second in seconds:
        written = datetime.fromtimestamp(1_760_000_000 + second + 7200, UTC)
        line = f"{written:%Y-%m-%d %H:%M:%S.%f}"[:-3]
        said = {"of": BROKER, "pattern": "subscription", "time": line}
        story.at(19.0).add(BROKER, "log-line", **said, text=f"{line} WARN the consumer's {text}")
    return story.ends("*")


def test_a_line_has_the_time_of_events_whatever_the_zone_of_its_log() -> None:
    story = refused(9.0)
    (line,) = [event for event in story.events if event.kind == "log-line"]
    assert line_ms(line) == 1_760_000_009_000


def test_refusals_that_go_on_long_after_anything_changed() -> None:
    (breach,) = refused(9.0, 10.0, 11.0).breaches(RefusedOnAndOn())
    assert breach.cause == "subscription not exist; the members differ in their topics"
    assert breach.anomaly[0]["log"]["matches"] == "subscription not exist, group: g, topic:orders"


def test_a_pull_that_is_not_the_latest_counts_too() -> None:
    story = refused(9.0, 10.0, 11.0, text="broker's subscription is not latest, group: g tagA")
    assert [cause.partition(";")[0] for cause in causes(story, RefusedOnAndOn())] == [
        "subscription not latest"
    ]


@pytest.mark.parametrize("seconds", [(1.1, 1.5, 2.9, 3.2), (9.0, 10.0)])
def test_refusals_after_a_start_or_only_a_few_are_natural(seconds: tuple[float, ...]) -> None:
    assert causes(refused(*seconds), RefusedOnAndOn()) == []


def test_who_disagreed_is_asked_of_the_time_of_the_refusals() -> None:
    story = refused(9.0, 10.0, 11.0)
    stopped = story.add("a", "consumer-stopped")
    story.events.insert(-1, dataclasses.replace(story.events.pop(stopped - 1), wall_ms=1_760_000_018_000))
    lines = [event.n for event in story.events if event.kind == "log-line"]
    # The member goes before the log is read, as the numbers of events have it.
    story.events = [
        dataclasses.replace(event, n=lines[0] - 1) if event.kind == "consumer-stopped" else event
        for event in story.events
    ]
    assert [cause.partition("; ")[2] for cause in causes(story, RefusedOnAndOn())] == [
        "the members differ in their topics"
    ]


def test_a_heartbeat_that_is_late_on_a_busy_machine_is_natural() -> None:
    # Nothing was ever undone: what is missing had not come yet.
    assert causes(refused(9.0, 10.0, 11.0, falls=0), RefusedOnAndOn()) == []


@pytest.mark.parametrize("step", ["start", "terminate"])
def test_refusals_while_a_member_takes_long_to_come_or_go_are_natural(step: str) -> None:
    story = refused(9.0, 10.0, 11.0)
    begun = story.add("harness", "step-started", index=0, step=step, line=7)
    story.events.insert(3, dataclasses.replace(story.events.pop(begun - 1), wall_ms=1_760_000_001_000))
    assert causes(story, RefusedOnAndOn()) == []


@pytest.mark.parametrize(
    ("since", "seconds", "found"),
    [
        (12.3, (9.0, 9.2, 9.4), 1),
        (8.5, (9.0, 9.2, 9.4), 0),  # it may have been under way at each of them
        (9.7, (9.0, 9.2, 9.4), 0),  # only what was undone before counts
    ],
)
def test_a_change_that_was_only_seen_may_have_happened_since_the_look_before(
    since: float, seconds: tuple[float, ...], found: int
) -> None:
    assert len(causes(refused(*seconds, reconnected_since=since), RefusedOnAndOn())) == found
