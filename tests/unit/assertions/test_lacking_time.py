"""Answers that are too early carry the moment from which they can be given; a run waits for no others."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.assertions.completeness import still_possible
from rocketchaos.assertions.judge import judge
from rocketchaos.assertions.lacking_time import as_if_ended_at, lacking_time
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds, OutcomeKind
from tests.unit.history_builder import BROKER, HistoryBuilder, scenario_of

FOREVER_NS = 10**15
BEGIN_NS = 5_000_000_000


def seconds(mono_ns: int) -> float:
    return (mono_ns - BEGIN_NS) / 1e9


class Story(HistoryBuilder):
    """A run with one message, sent at 3 s; its clustering group wants another tag, x and y get each message."""

    def __init__(
        self,
        anomaly: str,
        healthy: str = "subscription: {group: g, topic: orders, expression: tagZ}",
        more: str = "",
        a: str = "",
    ) -> None:
        super().__init__()
        self.scenario = scenario_of(
            "name: x\ntitle: t\ntopics: {orders: {queues: 1}}\nconsumers:\n"
            f"  a: {{group: g, subscribe: {{orders: tagA}}{a}}}\n"
            "  x: {group: all, subscribe: {orders: tagA}, model: broadcasting}\n"
            f"steps: [{{start: [a, x]}}]\nanomaly: [{{{anomaly}}}]\nhealthy: [{{{healthy}}}]\n{more}"
        )
        self.begin(self.scenario)
        self.events[0].data["timing"] = "compressed"  # type: ignore[index]
        self.at(1.0).start(self.scenario, "a")
        self.start(self.scenario, "x")
        self.at(3.0).send("orders", "tagB", 1, 0, 0)

    def end(self, at: float, offset: int = 0) -> Story:
        self.at(at).stored("g", {"orders": "tagA"}, ["a"], moment="end")
        self.offsets("g", "orders", [(offset, 1)], moment="end")
        self.add("harness", "dead-letters-observed", group="g", count=0, moment="end")
        self.owns(self.scenario, "a", "orders", [0], moment="end")
        self.add("harness", "moment-observed", moment="end")
        return self

    def got(self, name: str, status: str, at: float, times: int = 0) -> Story:
        where = {"broker": BROKER, "queue_id": 0, "offset": 0, "reconsume_times": times}
        self.at(at).add(name, "received", topic="orders", key="orders-1", tag="tagB", **where)
        self.add(name, "consumed", key="orders-1", status=status)
        return self

    def lacking(self, by: float = 100.0) -> list[tuple[str, float]]:
        found = lacking_time(self.scenario, self.events, BEGIN_NS + int(by * 1e9))
        return [(item.check, round(seconds(item.not_before_ns), 1)) for item in found]


NONE_CAME = "delivered: {to: a, count: 0}"


def test_what_was_sent_a_moment_ago_can_be_said_after_6_s() -> None:
    assert Story(NONE_CAME).end(3.5).lacking() == [("delivered to a", 9.0)]


@pytest.mark.parametrize(
    ("delay", "lacking"),
    [
        ({"delay_ms": 10_000}, [("delivered to g", 19.0)]),
        ({"delay_level": 3}, [("delivered to g", 19.0)]),
        ({"delay_level": 18}, []),  # two hours are too long for a run
        ({}, []),  # recorded before delays were: nobody knows how long
    ],
    ids=str,
)
def test_what_brokers_hold_back_can_be_said_when_its_delay_is_over(
    delay: dict[str, int], lacking: list[tuple[str, float]]
) -> None:
    story = Story("delivered: {to: g, count: 1}", "undelivered: {group: g, tag: tagC, count: 1}")
    story.events = [event for event in story.events if event.kind != "sent"]
    accepted = {"topic": "orders", "key": "orders-1", "tag": "tagB", "how": "delayed", "status": "SEND_OK"}
    story.add("producer", "send-accepted", **accepted, **delay)
    assert story.end(3.5).lacking() == lacking
    anomaly, healthy = judge(story.scenario, story.events).findings
    assert (anomaly.holds, healthy.holds) == (Holds.UNKNOWN, Holds.UNKNOWN)
    assert anomaly.observed == "1 delayed message is not in its queue yet"
    assert healthy.observed == "no message was sent that could have been delivered"


def test_of_messages_that_nobody_acknowledged_the_answer_says_why() -> None:
    story = Story("delivered: {to: g, count: 1}", "undelivered: {group: g, tag: tagC, count: 1}")
    story.events = [event for event in story.events if event.kind != "sent"]
    failed = {"topic": "orders", "tag": "tagB", "error": "For input string\n\tat A.java", "code": None}
    for number in (1, 2):
        story.add("producer", "send-failed", key=f"orders-{number}", **failed)
    story.end(3.5)
    anomaly, healthy = judge(story.scenario, story.events).findings
    assert (anomaly.holds, healthy.holds) == (Holds.UNKNOWN, Holds.UNKNOWN)
    assert anomaly.observed == "no message was acknowledged; orders-1: For input string"
    assert healthy.observed == "no message was sent that could have been delivered"


def test_what_happened_to_the_group_counts_too() -> None:
    story = Story(NONE_CAME)
    story.at(5.0).add("a", "subscribed", topic="orders", expression="tagC")
    assert story.end(5.5).lacking() == [("delivered to a", 11.0)]


def test_rocketmq_s_own_timers_take_30_s() -> None:
    story = Story(NONE_CAME)
    story.events[0].data["timing"] = "faithful"  # type: ignore[index]
    assert story.end(3.5).lacking() == [("delivered to a", 33.0)]


@pytest.mark.parametrize(
    "check",
    [
        "delivered: {to: x, count: 1}",
        "undelivered: {group: all, count: 0}",
        "undelivered: {group: g, at_least: 1}",
        "duplicated: {count: 0}",
        "latency: {to: x, at_most: 1s}",
        "order: {topic: orders}",
        "retry: {group: g, count: 0}",
        "dead-letter: {group: g, count: 0}",
    ],
)
def test_every_check_that_is_too_early_says_when_it_is_not(check: str) -> None:
    (found,) = Story(check).end(3.5).lacking()
    assert found[1] == 9.0


def test_the_answer_is_there_at_that_moment_and_not_before() -> None:
    story = Story(NONE_CAME).end(3.5)
    (moment,) = [item.not_before_ns for item in lacking_time(story.scenario, story.events, FOREVER_NS)]

    def answer(now_ns: int) -> Holds:
        return judge(story.scenario, as_if_ended_at(story.events, now_ns)).findings[0].holds

    assert answer(moment - 1) is Holds.UNKNOWN
    assert answer(moment) is Holds.YES


def test_a_retry_is_awaited_as_long_as_its_delay_level_takes() -> None:
    check, own = "retry: {group: g, count: 1}", ", behaviour: {fail: 1}"
    assert Story(check, a=own).got("a", "RECONSUME_LATER", 4.0).end(5.0).lacking() == [
        ("retries of g", 20.0)  # level 3, 10 s
    ]
    story = Story(check, a=own + ", retry_delay_level: 1").got("a", "RECONSUME_LATER", 4.0)
    assert story.end(5.0).lacking() == [("retries of g", 11.0)]
    dead = Story("dead-letter: {group: g, count: 1}", a=own + ", max_reconsume_times: 0")
    assert dead.got("a", "RECONSUME_LATER", 4.0).end(5.0).lacking() == [("dead letters of g", 10.0)]


def test_a_decided_run_waits_for_nothing() -> None:
    decided = Story(NONE_CAME).end(3.5, offset=1)
    assert decided.lacking() == []
    seen = Story("delivered: {to: a, at_least: 1}", NONE_CAME).got("a", "CONSUME_SUCCESS", 3.1)
    assert seen.end(3.5).lacking() == []


def test_a_list_that_one_check_settles_waits_for_no_other() -> None:
    story = Story("delivered: {to: a, count: 0}}, {subscription: {group: g, topic: orders, expression: tagZ}")
    assert story.end(3.5).lacking() == []


def test_a_list_that_holds_decides_the_run() -> None:
    story = Story("track: {group: g, topic: orders, all: CONSUMED}", NONE_CAME)
    assert story.end(3.5).lacking() == [("delivered to a", 9.0)]
    holding = Story("subscription: {group: g, topic: orders, expression: tagA}", NONE_CAME)
    assert holding.end(3.5).lacking() == []


def test_what_must_hold_besides_is_waited_for_too() -> None:
    anomaly = "subscription: {group: g, topic: orders, expression: tagA}"
    story = Story(anomaly, more="also: [{delivered: {to: x, count: 0}}]\n")
    assert story.end(3.5).lacking() == [("delivered to x", 9.0)]


def test_no_wait_helps_against_who_stands_still() -> None:
    story = Story(NONE_CAME)
    story.add("harness", "fault-effective", fault="pause", target="a", proof="T")
    assert story.end(3.5).lacking() == []
    assert still_possible(RunView(story.scenario, story.events), ["g"], [], 0) is not None


def test_no_wait_begins_that_can_not_last_long_enough() -> None:
    assert Story(NONE_CAME).end(3.5).lacking(by=8.9) == []


def test_no_wait_helps_a_check_of_an_earlier_observation() -> None:
    story = Story("delivered: {to: a, count: 0, at: early}")
    story.at(3.2).add("harness", "moment-observed", moment="early")
    assert story.end(3.5).lacking() == []


def observed_again(story: Story, at: float) -> Story:
    story.at(at).offsets("g", "orders", [(0, 1)], moment="end-2")
    return_to: dict[str, Any] = {"moment": "end-2", "name": "end", "iteration": 2}
    story.add("harness", "moment-observed", **return_to)
    return story


def test_the_end_that_was_observed_last_counts() -> None:
    story = observed_again(Story(NONE_CAME).end(3.5), 9.5)
    assert story.lacking() == []
    story.add("harness", "run-ended")
    assert judge(story.scenario, story.events).kind is OutcomeKind.REPRODUCED


def test_an_end_that_was_put_off_is_one_value_of_a_distribution() -> None:
    story = Story("outcome-distribution: {group: g, topic: orders, values_at_most: 1}").end(3.5)
    story.stored("g", {"orders": "tagB"}, ["a"], moment="end-2")
    observed_again(story, 9.5).stored("g", {"orders": "tagB"}, ["a"], moment="end-3")
    story.add("harness", "moment-observed", moment="end-3", name="end", iteration=3)
    (finding, *_) = judge(story.scenario, story.events).findings
    assert "tagB 1 of 1" in finding.observed
