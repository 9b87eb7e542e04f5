"""The checks about repeats, order, time and iterations on hand-made histories: each holds, fails, or can't say."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter

from rocketchaos.assertions import Answer, Check
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds
from rocketchaos.harness.scenario.declared import CheckOfScenario
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.history_builder import BROKER, HistoryBuilder, scenario_of

YES, NO, UNKNOWN = Holds.YES, Holds.NO, Holds.UNKNOWN
SCENARIO = """\
name: over-time
title: over time
topics: {orders: {queues: 2}}
consumers:
  a: {group: g, subscribe: {orders: tagA}}
  b: {group: g, subscribe: {orders: tagA}}
  x: {group: all, subscribe: {orders: tagA}, model: broadcasting}
  y: {group: all, subscribe: {orders: tagA}, model: broadcasting}
steps: [{start: [a, b]}]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""
CHECK: TypeAdapter[Check] = TypeAdapter(CheckOfScenario)


class Story(HistoryBuilder):
    """A run of a and b, whose listeners are told message by message what they get."""

    def __init__(self) -> None:
        super().__init__()
        self.scenario: Scenario = scenario_of(SCENARIO)
        self.begin(self.scenario)
        for name in ("a", "b", "x", "y"):
            self.start(self.scenario, name)

    def sent(self, number: int, queue: int = 0, offset: int = 0, **more: Any) -> Story:
        message = {"topic": "orders", "key": f"orders-{number}", "tag": "tagA", **more}
        self.add("producer", "send-invoked", **message)
        where = {"broker": BROKER, "queue_id": queue, "queue_offset": offset}
        self.add("producer", "sent", **message, **where, status="SEND_OK", msg_id="", offset_msg_id="")
        return self

    def got(self, name: str, number: int, offset: int = 0, *, times: int = 0, **more: Any) -> Story:
        message = {"topic": "orders", "key": f"orders-{number}", "tag": "tagA", "reconsume_times": times}
        self.add(name, "received", **message, broker=BROKER, queue_id=0, offset=offset, **more)
        return self

    def answered(self, name: str, number: int, status: str = "CONSUME_SUCCESS") -> Story:
        self.add(name, "consumed", key=f"orders-{number}", status=status)
        return self

    def passed(self, seconds: float | None = None) -> Story:
        """The group's offsets have passed everything: no more will come."""
        if seconds is not None:
            self.at(seconds)
        self.offsets("g", "orders", [(99, 9), (99, 9)])
        self.offsets("all", "orders", [(99, 9), (99, 9)])
        return self

    def moment(self, moment: str, **more: Any) -> Story:
        self.add("harness", "moment-observed", moment=moment, **more)
        return self

    def answer(self, text: str) -> Answer:
        check = CHECK.validate_python(yaml.safe_load(text))
        return check.evaluate(RunView(self.scenario, self.events))

    def holds(self, text: str) -> Holds:
        return self.answer(text).holds


def test_a_message_that_came_again_is_duplicated_and_a_retry_is_not() -> None:
    story = Story().sent(1).sent(2, 0, 1).got("a", 1).got("b", 1).got("a", 2).got("a", 2, times=1)
    story.passed().moment("end")
    assert story.holds("duplicated: {to: g, count: 1}") is YES
    assert story.holds("duplicated: {to: g, count: 0}") is NO
    assert story.holds("duplicated: {at_most: 0}") is NO
    assert "orders-1 to a, then b" in story.answer("duplicated: {to: g, count: 0}").observed
    assert story.got("a", 2, times=1).moment("later").holds("duplicated: {at_least: 2, at: later}") is YES


def test_a_message_counts_once_however_often_it_comes_and_times_says_how_often() -> None:
    story = Story().sent(1).sent(2, 0, 1).got("a", 1).got("b", 1).got("a", 2)
    for _ in range(9):
        story.got("a", 1)
    story.passed().moment("end")
    assert story.holds("duplicated: {to: g, count: 1}") is YES
    assert story.holds("duplicated: {to: g, count: 1, times: 10}") is YES
    assert story.holds("duplicated: {to: g, count: 1, times: 11}") is NO
    answer = story.answer("duplicated: {to: g, count: 0, times: 10}")
    assert answer.expected == "0 messages delivered again at least 10 times"
    assert "orders-1 to a, then b, then a" in answer.observed
    assert "and 3 times more" in answer.observed


def test_repeats_are_counted_by_group_and_where_it_broadcasts_by_consumer() -> None:
    story = Story().sent(1).got("a", 1).got("x", 1).got("y", 1).passed().moment("end")
    assert story.holds("duplicated: {count: 0}") is YES
    assert story.got("x", 1).moment("later").holds("duplicated: {to: all, count: 1, at: later}") is YES


def test_repeats_after_a_moment_can_be_allowed() -> None:
    story = Story().sent(1).got("a", 1).moment("before").got("b", 1).passed().moment("end")
    assert story.holds("duplicated: {count: 0}") is NO
    assert story.holds("duplicated: {count: 0, allow_after: before}") is YES
    assert story.holds("duplicated: {count: 0, allow_after: end}") is NO


def test_what_came_only_after_the_moment_can_not_have_come_again_before_it() -> None:
    story = Story().sent(1).moment("before").got("a", 1).passed().moment("end")
    assert story.holds("duplicated: {count: 0, allow_after: before}") is UNKNOWN
    assert story.holds("duplicated: {count: 0}") is YES


def test_duplicated_waits_until_no_more_can_come() -> None:
    story = Story().sent(1).got("a", 1).moment("end")
    assert story.holds("duplicated: {count: 0}") is UNKNOWN
    assert story.passed().moment("later").holds("duplicated: {count: 0, at: later}") is YES
    assert Story().sent(1).passed().moment("end").holds("duplicated: {count: 0}") is UNKNOWN


def test_order_goes_by_offsets_and_tells_the_first_breach() -> None:
    story = Story().sent(1, 0, 0).sent(2, 0, 1).sent(3, 0, 2)
    story.got("a", 1, 0).got("a", 3, 2).got("b", 2, 1).passed().moment("end")
    answer = story.answer("order: {topic: orders}")
    assert answer.holds is NO
    assert (
        f"orders-2 ({BROKER}:0, offset 1) came to b after orders-3 ({BROKER}:0, offset 2)" in answer.observed
    )
    assert story.holds("order: {topic: orders, to: a}") is YES
    assert story.holds("order: {topic: orders, kept: false}") is YES
    assert story.holds("order: {topic: orders, to: a, kept: false}") is NO


def test_that_order_is_broken_is_unknown_while_more_may_come() -> None:
    story = Story().sent(1, 0, 0).sent(2, 0, 1).sent(3, 0, 2).got("a", 1, 0).got("a", 3, 2)
    assert story.moment("early").holds("order: {topic: orders, kept: false, at: early}") is UNKNOWN
    assert story.got("a", 2, 1).moment("end").holds("order: {topic: orders, kept: false}") is YES


def test_order_passes_over_repeats_and_retries() -> None:
    story = Story().sent(1, 0, 0).sent(2, 0, 1)
    story.got("a", 1, 0).got("a", 2, 1).got("b", 1, 0).got("a", 1, 7, times=1).passed().moment("end")
    assert story.holds("order: {topic: orders, per: queue}") is YES
    assert story.holds("order: {topic: orders, per: key}") is UNKNOWN


def test_order_per_key_goes_by_the_sending() -> None:
    story = Story().sent(1, 0, 5, keys=["k"]).sent(2, 1, 0, keys=["k"]).sent(3, 0, 1, keys=["other"])
    story.got("a", 1, 5, keys=["k"]).got("a", 3, 1, keys=["other"]).got("b", 2, 0, keys=["k"])
    story.passed().moment("end")
    assert story.holds("order: {topic: orders, per: key}") is YES
    late = Story().sent(1, 0, 5, keys=["k"]).sent(2, 1, 0, keys=["k"])
    late.got("b", 2, 0, keys=["k"]).got("a", 1, 5, keys=["k"]).passed().moment("end")
    assert late.holds("order: {topic: orders, per: key}") is NO


def test_latency_is_from_the_call_to_the_first_delivery() -> None:
    story = Story()
    for number in range(1, 11):
        story.at(number).sent(number)
        story.at(number + (0.8 if number == 10 else 0.05)).got("a", number)
    story.at(20).got("b", 1).passed().moment("end")
    assert story.holds("latency: {to: g, at_most: 100ms}") is NO
    assert story.holds("latency: {to: g, at_most: 100ms, percentile: 90}") is YES
    assert story.holds("latency: {to: g, at_most: 100ms, percentile: 91}") is NO
    assert story.holds("latency: {to: g, at_least: 40ms, at_most: 1s}") is YES
    assert story.holds("latency: {at_least: 60ms}") is NO
    assert "10 came after 50.0 to 800.0 ms, median 50.0" in story.answer("latency: {at_most: 1s}").observed


def test_latency_of_what_may_still_come_is_unknown() -> None:
    story = Story().sent(1).got("a", 1).sent(2, 0, 1).moment("end")
    assert story.holds("latency: {at_most: 1s}") is UNKNOWN
    assert story.holds("latency: {at_least: 0ms}") is YES
    assert Story().sent(1).passed().moment("end").holds("latency: {at_most: 1s}") is UNKNOWN


def test_latency_of_a_share_is_not_decided_while_the_rest_may_still_decide_it() -> None:
    story = Story().sent(1).sent(2, 0, 1)
    story.at(2).got("a", 1).sent(3, 0, 2).moment("end")
    assert story.holds("latency: {at_most: 1s, percentile: 50}") is UNKNOWN
    assert story.holds("latency: {at_least: 1s}") is UNKNOWN
    assert story.holds("latency: {at_most: 1s}") is NO
    assert story.holds("latency: {at_most: 1s, percentile: 90}") is NO


def failing() -> Story:
    """Message 1 fails twice, and then succeeds: 1 s after the first answer, 3 s after the second."""
    story = Story().sent(1).got("a", 1)
    story.at(1.0).answered("a", 1, "RECONSUME_LATER").at(2.0).got("b", 1, times=1)
    story.answered("b", 1, "RECONSUME_LATER").at(5.0).got("a", 1, times=2)
    return story


def test_retries_are_counted_and_timed_from_the_answer_before() -> None:
    story = failing().answered("a", 1).passed().moment("end")
    assert story.holds("retry: {group: g, count: 2}") is YES
    assert story.holds("retry: {group: g, count: 1, reconsume_times: 2}") is YES
    assert story.holds("retry: {group: g, at_most: 1}") is NO
    assert story.holds("retry: {group: g, count: 2, after_at_least: 900ms, after_at_most: 4s}") is YES
    assert story.holds("retry: {group: g, count: 2, after_at_least: 2s}") is NO
    assert story.holds("retry: {group: g, count: 2, after_at_most: 2s}") is NO
    assert story.holds("retry: {group: g, at_least: 1, reconsume_times: 1, after_at_most: 2s}") is YES


def test_retries_that_may_still_come_are_unknown() -> None:
    story = failing().answered("a", 1, "RECONSUME_LATER").passed().moment("end")
    assert story.holds("retry: {group: g, count: 2}") is UNKNOWN
    assert story.holds("retry: {group: g, at_least: 3}") is UNKNOWN
    assert story.holds("retry: {group: g, at_least: 2}") is YES
    assert story.holds("retry: {group: g, at_most: 1}") is NO
    story.add("harness", "dead-letters-observed", group="g", count=1, moment="later")
    assert story.moment("later").holds("retry: {group: g, count: 2, at: later}") is YES


def test_without_any_delivery_nothing_is_known_of_retries() -> None:
    assert Story().sent(1).passed().moment("end").holds("retry: {group: g, count: 0}") is UNKNOWN
    assert (
        Story()
        .sent(1)
        .got("a", 1)
        .answered("a", 1)
        .passed()
        .moment("end")
        .holds("retry: {group: g, count: 0}")
        is YES
    )


def dead(count: int, status: str) -> Story:
    story = Story().sent(1).got("a", 1).answered("a", 1, status).passed()
    story.add("harness", "dead-letters-observed", group="g", count=count, moment="end")
    return story.moment("end")


def test_dead_letters_are_what_the_brokers_say() -> None:
    assert dead(1, "RECONSUME_LATER").holds("dead-letter: {group: g, count: 1}") is YES
    assert dead(1, "RECONSUME_LATER").holds("dead-letter: {group: g, count: 0}") is NO
    assert dead(0, "CONSUME_SUCCESS").holds("dead-letter: {group: g, count: 0}") is YES
    assert dead(0, "CONSUME_SUCCESS").holds("dead-letter: {group: g, at_least: 1}") is NO


def test_dead_letters_to_come_are_unknown() -> None:
    assert dead(0, "RECONSUME_LATER").holds("dead-letter: {group: g, count: 0}") is UNKNOWN
    assert dead(0, "SUSPEND_CURRENT_QUEUE_A_MOMENT").holds("dead-letter: {group: g, at_least: 1}") is UNKNOWN
    assert Story().moment("end").holds("dead-letter: {group: g, count: 0}") is UNKNOWN


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


def test_what_came_so_far_is_known_though_more_may_come() -> None:
    story = Story().sent(1).sent(2, 0, 1).got("a", 1).moment("away")
    assert story.holds("delivered: {to: g, count: 1, at: away}") is UNKNOWN
    assert story.holds("delivered: {to: g, count: 1, at: away, so_far: true}") is YES
    assert story.holds("delivered: {to: g, count: 0, at: away, so_far: true}") is NO
    assert story.holds("delivered: {to: g, at_least: 2, at: away, so_far: true}") is NO
    story.got("a", 2, 1).passed().moment("end")
    assert story.holds("delivered: {to: g, count: 1, at: away, so_far: true}") is YES
    assert story.holds("delivered: {to: g, count: 1, so_far: true}") is NO


def test_retries_and_dead_letters_so_far_are_known_though_more_may_come() -> None:
    story = Story().sent(1).got("a", 1).answered("a", 1, "RECONSUME_LATER").moment("away")
    story.add("harness", "dead-letters-observed", group="g", moment="away", count=0)
    for check in ("retry", "dead-letter"):
        assert story.holds(f"{check}: {{group: g, count: 0, at: away}}") is UNKNOWN
        assert story.holds(f"{check}: {{group: g, count: 0, at: away, so_far: true}}") is YES
        assert story.holds(f"{check}: {{group: g, at_least: 1, at: away, so_far: true}}") is NO


def test_messages_sent_after_a_moment() -> None:
    story = Story().sent(1).moment("half").sent(2, 0, 1).got("a", 1).got("a", 2).passed().moment("end")
    assert story.holds("delivered: {to: g, count: 1, sent_after: half}") is YES
    assert story.holds("delivered: {to: g, count: 2, sent_after: half}") is NO
    assert story.holds("undelivered: {group: g, count: 0, sent_after: half}") is YES
    assert story.holds("delivered: {to: g, count: 1, sent_after: end}") is UNKNOWN


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


def test_messages_of_a_topic_to_which_nobody_of_the_group_subscribes_are_not_awaited() -> None:
    story = Story()
    story.sent(1).got("a", 1).got("a", 1).answered("a", 1).passed()
    story.sent(7, topic="bills", key="bills-7")
    story.moment("end")
    assert story.holds("duplicated: {to: g, count: 1}") is YES
    assert story.holds("delivered: {to: g, count: 1}") is YES
