"""The checks about repeated messages, order and time on hand-made histories: each holds, fails, or can't say."""

from __future__ import annotations

import pytest

from tests.unit.assertions.over_time import NO, UNKNOWN, YES, Story, failing
from tests.unit.history_builder import BROKER


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
    story = Story().sent(1).got("a", 1).answered("a", 1, "SUSPEND_CURRENT_QUEUE_A_MOMENT")
    story.add("harness", "dead-letters-observed", group="g", count=0, moment="end")
    assert story.moment("end").holds("dead-letter: {group: g, at_least: 1}") is UNKNOWN
    assert Story().moment("end").holds("dead-letter: {group: g, count: 0}") is UNKNOWN


@pytest.mark.parametrize("how", ["commit", "delayed"])
def test_of_what_brokers_hold_back_none_has_come_so_far(how: str) -> None:
    story = Story()
    story.add(
        "producer", "send-accepted", topic="orders", key="orders-1", tag=None, how=how, status="SEND_OK"
    )
    story.moment("away")
    assert story.holds("delivered: {to: g, count: 0, at: away}") is UNKNOWN
    assert story.holds("delivered: {to: g, count: 0, at: away, so_far: true}") is YES
    assert story.holds("delivered: {to: g, at_least: 1, at: away, so_far: true}") is NO
    assert story.holds("delivered: {to: g, topic: bills, count: 0, at: away, so_far: true}") is not YES


def test_of_half_messages_alone_the_answer_names_the_way_out() -> None:
    story = Story()
    story.add(
        "producer", "send-accepted", topic="orders", key="orders-1", tag=None, how="commit", status="SEND_OK"
    )
    story.moment("away")
    for check in ("delivered: {to: g, count: 0, at: away}", "undelivered: {group: g, count: 0, at: away}"):
        observed = story.answer(check).observed
        assert "1 half message" in observed
        assert "so_far: true" in observed


def test_of_what_was_sent_one_way_nobody_knows_whether_it_came() -> None:
    story = Story()
    story.add("producer", "send-accepted", topic="orders", key="orders-1", tag=None, how="oneway")
    assert story.moment("away").holds("delivered: {to: g, count: 0, at: away, so_far: true}") is UNKNOWN


@pytest.mark.parametrize("check", ["retry", "dead-letter"])
def test_what_is_too_early_to_say_names_the_way_out(check: str) -> None:
    story = Story().sent(1).got("a", 1).answered("a", 1, "RECONSUME_LATER").moment("away")
    story.add("harness", "dead-letters-observed", group="g", moment="away", count=0)
    observed = story.answer(f"{check}: {{group: g, count: 0, at: away}}").observed
    assert "1 message failed last" in observed
    assert "`so_far: true`" in observed


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


def test_messages_of_a_topic_to_which_nobody_of_the_group_subscribes_are_not_awaited() -> None:
    story = Story()
    story.sent(1).got("a", 1).got("a", 1).answered("a", 1).passed()
    story.sent(7, topic="bills", key="bills-7")
    story.moment("end")
    assert story.holds("duplicated: {to: g, count: 1}") is YES
    assert story.holds("delivered: {to: g, count: 1}") is YES
