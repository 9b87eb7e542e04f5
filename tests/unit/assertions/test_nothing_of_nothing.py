"""A check holds of messages that are there: never of nothing, also where it says that there is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml

from rocketchaos.assertions import CHECKS, Check
from rocketchaos.assertions.base import Count
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Event, Holds
from tests.unit.assertions.number_keys import BESIDES, KEYS, LIMITS, base_of, made
from tests.unit.assertions.random_runs import RICH, SCENARIO, Facts, events_of
from tests.unit.history_builder import BROKER, HistoryBuilder, scenario_of

NOTHING = Facts(
    messages=(),
    dead_letters=0,
    looks=(((None, 0),) * 4,) * 2,
    owned=(frozenset(), frozenset()),
    shown_twice=(0, 0),
    logged=0,
    lines_ms=(),
    holders=(),
    dropped_after_ms=None,
    pulled=(0, 0, 0, 0),
    codes=(),
)
"""Everything was looked at, and there was nothing."""
OF_WHAT_IS_THERE = {
    "subscription": "what the broker holds is there without messages",
    "ownership": "queues are there without messages",
    "several-owners": "queues are there without messages",
    "pull": "its answer is there",
    "client-pull": "its answer is there",
    "answer": "its answer is there",
    "notified": "the client is there that would have been told",
    "log": "the log is there",
    "same-client": "clients are there",
}
"""Words that don't quantify over messages, and why they may hold without any."""


def statements(word: str) -> Iterator[Check]:
    """Whatever the word can state with its example's keys, and with one number in place of those."""
    yield CHECKS[word].model_validate(yaml.load(CHECKS[word].example, yaml.CSafeLoader)[word])
    for key in KEYS:
        for value in ([], [0]) if key.many else (0, 1, 3, 100):
            check = made(key, value) if key.word == word else None
            if check is not None:
                yield check


def of(word: str, **stated: Any) -> Check:
    return CHECKS[word].model_validate(stated)


def holds(check: Check, events: list[Event]) -> Holds:
    return check.evaluate(RunView(SCENARIO, events)).holds


@pytest.mark.parametrize("word", [word for word in CHECKS if word not in OF_WHAT_IS_THERE])
def test_nothing_holds_of_no_message(word: str) -> None:
    events = list(events_of(NOTHING))
    for check in statements(word):
        assert holds(check, events) is not Holds.YES, check


@pytest.mark.parametrize(
    "check",
    [
        of("retry", group="g", at_most=3, after_at_most="0ms"),
        of("retry", group="g", at_least=0, after_at_least="1h"),
        of("retry", group="g", at_most=3, reconsume_times=9, after_at_most="1s"),
        of("retry", group="g", count=0, topic="bills"),
        of("track", group="g", topic="orders", all="CONSUMED", tag="nobody-sent-it"),
        of("track-series", group="g", topic="orders", sequence=["CONSUMED"], tag="nobody-sent-it"),
        of("latency", to="g", at_most="1h", tag="nobody-sent-it"),
        of("placed", topics=["orders", "bills"], queues=[0, 1, 3]),
        of("placed", topics="orders", number=9, queues_at_most=4),
        of("delivered", to="g", at_most=3, tag="nobody-sent-it"),
        of("order", topic="bills"),
    ],
    ids=str,
)
def test_of_what_is_not_there_in_a_run_that_has_messages_nothing_is_known(check: Check) -> None:
    events = [event for event in events_of(RICH) if event.data.get("reconsume_times", 0) == 0]
    for number, event in enumerate(events, 1):
        events[number - 1] = Event(
            number, event.mono_ns, event.wall_ms, event.run, event.node, event.kind, event.data
        )
    assert holds(check, events) is Holds.UNKNOWN


def test_the_order_of_one_message_is_unknown() -> None:
    events = list(events_of(replace(RICH, messages=RICH.messages[:1])))
    assert holds(of("order", topic="orders"), events) is Holds.UNKNOWN


@pytest.mark.parametrize("number", [0, 5])
def test_offsets_of_queues_that_never_had_a_message_show_nothing(number: int) -> None:
    check, shown = of("offsets", group="g", topic="orders", lag=number), {"group": "g", "topic": "orders"}
    expected = Holds.UNKNOWN if number == 0 else Holds.NO
    assert holds(check, list(events_of(NOTHING))) is expected
    assert holds(of("dashboard", **shown, lag=number), list(events_of(NOTHING))) is expected


def test_no_subscription_has_no_codes() -> None:
    check = of("subscription", group="g", topic="bills", codes=[])
    assert holds(check, list(events_of(RICH))) is Holds.NO


def test_nobody_has_no_log() -> None:
    events = list(events_of(RICH))
    bound = events[-3]
    events[-3] = Event(
        bound.n,
        bound.mono_ns,
        bound.wall_ms,
        bound.run,
        "harness",
        "bound",
        {"variable": "others", "consumers": []},
    )
    assert holds(of("log", consumer="$others", matches="x", count=0), events) is Holds.UNKNOWN


def test_no_members_are_not_alike() -> None:
    for members, expected in (([], Holds.UNKNOWN), (["a", "b"], Holds.YES)):
        made_here = HistoryBuilder().begin(SCENARIO)
        made_here.add(
            "harness", "consumer-status-observed", group="g", alike=True, members=members, moment="end"
        )
        assert holds(of("consumer-status", group="g", alike=True), made_here.events) is expected


def test_what_no_body_lacks_is_unknown_unless_the_answer_is_stated_too() -> None:
    made_here = HistoryBuilder().begin(SCENARIO)
    made_here.add(
        "harness",
        "asked",
        name="ids",
        of=BROKER,
        code=1,
        status="SYSTEM_ERROR",
        remark="",
        fields={},
        text="",
    )
    assert holds(of("answer", of="ids", lacks="a"), made_here.events) is Holds.UNKNOWN
    assert holds(of("answer", of="ids", code=1, lacks="a"), made_here.events) is Holds.YES


def test_messages_that_came_to_nobody_have_no_queues() -> None:
    made_here = HistoryBuilder().begin(SCENARIO)
    made_here.start(SCENARIO, "a")
    made_here.send("orders", "tagA", 1, 0, 0)
    made_here.at(100.0).add("harness", "moment-observed", moment="end")
    assert holds(of("delivered", to="g", at_most=3), made_here.events) is Holds.YES
    assert holds(of("delivered", to="g", at_most=3, from_queues_of="a"), made_here.events) is Holds.UNKNOWN


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        ("retry: {group: g, count: 0, after_at_most: 0ms}", "where no retry comes none has a time"),
        ("delivered: {to: g, count: 0, from_queues_of: a}", "where no message comes none has a queue"),
        ("placed: {topics: orders, queues: []}", "names no queue"),
        ("dropped: {consumer: a, at_least: 2s, at_most: 1s}", "`at_least` is more than `at_most`"),
        (
            "retry: {group: g, count: 1, after_at_least: 2s, after_at_most: 1s}",
            "`after_at_least` is more than",
        ),
        ("pull: {of: p1, took_at_least: 2s, took_at_most: 1s}", "`took_at_least` is more than"),
        ("placed: {topics: orders, queues_at_least: 2, queues_at_most: 1}", "`queues_at_least` is more than"),
    ],
)
def test_what_can_only_hold_of_nothing_is_refused(check: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        scenario_of(
            "name: x\ntitle: t\ntopics: {orders: {queues: 1}}\n"
            "consumers: {a: {group: g, subscribe: {orders: '*'}}}\n"
            f"steps: [{{start: a}}]\nanomaly: [{{{check}}}]\nhealthy: [{{refuted: anomaly}}]\n"
        )


def test_every_pair_of_limits_of_every_check_is_held_against_each_other() -> None:
    # Of a count just one limit is said.
    pairs = [key for key in LIMITS if key.name != "at_most" or not issubclass(CHECKS[key.word], Count)]
    for most in pairs:
        least = most.name.replace("at_most", "at_least")
        low, high = (0.2, 0.3) if most.fraction else (1, 2)
        stated = {**base_of(most.word), **BESIDES.get((most.word, most.name), {}), most.name: most.said(low)}
        with pytest.raises(ValueError, match=f"`{least}` is more than `{most.name}`"):
            CHECKS[most.word].model_validate({**stated, least: most.said(high)})
