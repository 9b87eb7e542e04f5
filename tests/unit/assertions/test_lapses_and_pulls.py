"""What clients make of pulls, fields of answers, and the times between lines of a log."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from rocketchaos.assertions import CHECKS
from rocketchaos.assertions.base import Answer
from rocketchaos.assertions.log_lapse import LogLapse
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds
from tests.unit.history_builder import HistoryBuilder, scenario_of

TEXT = """\
name: lapses
title: times between lines
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: tagA}}
steps: [{start: a}]
anomaly: [{delivered: {to: g, count: 1}}]
healthy: [{delivered: {to: g, count: 0}}]
"""
SCENARIO = scenario_of(TEXT)
YES, NO, UNKNOWN = Holds.YES, Holds.NO, Holds.UNKNOWN


def answer(made: HistoryBuilder, word: str, **fields: Any) -> Answer:
    return CHECKS[word].model_validate(fields).evaluate(RunView(SCENARIO, made.events))


def logged(*lines: tuple[str, str | None], of: str = "a", moment: str = "end") -> HistoryBuilder:
    """Lines of a log: the expression that they match, and the second at which they were written."""
    made = HistoryBuilder().begin(SCENARIO)
    for pattern, time in lines:
        stamp = None if time is None else f"2026-11-22 01:00:{time}"
        made.add(of, "log-line", of=of, pattern=pattern, time=stamp, text=pattern)
    made.add("harness", "moment-observed", moment=moment)
    return made


LAPSES: list[tuple[dict[str, Any], Holds]] = [
    ({"at_least": "9900ms", "at_most": "12s"}, YES),
    ({"at_least": "11s"}, NO),
    ({"at_most": "9s"}, NO),
    ({"at_most": "12s", "times": 2}, UNKNOWN),
]


@pytest.mark.parametrize(("limits", "holds"), LAPSES, ids=[str(limits) for limits, _ in LAPSES])
def test_a_lapse_goes_from_a_line_to_the_next_one_of_the_other_kind(
    limits: dict[str, Any], holds: Holds
) -> None:
    # 4.9.x writes a comma before the milliseconds, 5.x a point.
    made = logged(("fixed", "01,000"), ("illegal", "02,500"), ("fixed", "12.600"), ("fixed", "40.000"))
    given = answer(made, "log-lapse", consumer="a", **{"from": "illegal", "to": "fixed"}, **limits)
    assert given.holds is holds


def test_without_another_kind_it_goes_to_the_next_line_of_its_own_and_all_lapses_must_keep_the_limit() -> (
    None
):
    made = logged(("x", "00.000"), ("x", "01.000"), ("x", "04.000"))
    assert answer(made, "log-lapse", consumer="a", **{"from": "x"}, at_most="3s", times=2).holds is YES
    assert answer(made, "log-lapse", consumer="a", **{"from": "x"}, at_most="2s").holds is NO
    given = answer(made, "log-lapse", consumer="a", **{"from": "x"}, at_least="1s")
    assert given.holds is YES
    assert len(given.events) == 3


def test_lines_of_another_log_or_without_a_time_and_what_was_not_observed_say_nothing() -> None:
    lines = (("x", "00.000"), ("x", None))
    assert answer(logged(*lines), "log-lapse", consumer="a", **{"from": "x"}, at_most="3s").holds is UNKNOWN
    whole = (("x", "00.000"), ("x", "01.000"))
    elsewhere = logged(*whole, of="broker-a")
    assert answer(elsewhere, "log-lapse", consumer="a", **{"from": "x"}, at_most="3s").holds is UNKNOWN
    assert answer(elsewhere, "log-lapse", node="broker-a", **{"from": "x"}, at_most="3s").holds is YES
    early = logged(*whole, moment="before")
    assert answer(early, "log-lapse", consumer="a", **{"from": "x"}, at_most="3s").holds is UNKNOWN
    later = logged(*whole)
    assert (
        answer(later, "log-lapse", consumer="a", **{"from": "x"}, at_most="3s", since="end").holds is UNKNOWN
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"from": "x", "at_most": "3s"},
        {"consumer": "a", "node": "broker-a", "from": "x", "at_most": "3s"},
        {"consumer": "a", "from": "x"},
        {"consumer": "a", "from": "(", "at_most": "3s"},
    ],
    ids=str,
)
def test_a_lapse_needs_one_log_a_limit_and_an_expression(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        LogLapse.model_validate(fields)


def test_what_a_client_makes_of_a_pull_is_a_status_or_an_exception() -> None:
    made = HistoryBuilder().begin(SCENARIO)
    made.add("a", "client-pulled", name="c1", status="OFFSET_ILLEGAL", next_offset=2)
    made.add("a", "client-pulled", name="c2", status=None, error="MQBrokerException: queueId[99] is illegal")
    assert answer(made, "client-pull", of="c1", status="OFFSET_ILLEGAL", next_offset=2).holds is YES
    assert answer(made, "client-pull", of="c1", status="OFFSET_ILLEGAL", next_offset=0).holds is NO
    assert answer(made, "client-pull", of="c1", status="FOUND").holds is NO
    assert answer(made, "client-pull", of="c2", throws="MQBrokerException").holds is YES
    assert answer(made, "client-pull", of="c2", status="FOUND").holds is NO
    assert answer(made, "client-pull", of="c1", throws="MQBrokerException").holds is NO
    assert answer(made, "client-pull", of="c3", status="FOUND").holds is UNKNOWN


def test_fields_of_an_answer_are_compared_as_text() -> None:
    made = HistoryBuilder().begin(SCENARIO)
    made.add(
        "harness", "asked", name="s1", of="broker-a", request=14, code=0, status="0 FOUND", remark="",
        fields={"offset": "3"}, text="",
    )  # fmt: skip
    assert answer(made, "answer", of="s1", code=0, fields={"offset": "3"}).holds is YES
    assert answer(made, "answer", of="s1", fields={"offset": "2"}).holds is NO
    assert answer(made, "answer", of="s1", fields={"other": "3"}).holds is NO
