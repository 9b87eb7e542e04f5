"""The checks of raw pulls, logs and notifications, and what others make of nodes that are gone."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.assertions import CHECKS
from rocketchaos.assertions.base import Answer
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.history_builder import HistoryBuilder, scenario_of

TEXT = """\
name: raw
title: raw steps
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: tagA}}
steps: [{start: a}]
anomaly: [{delivered: {to: g, count: 1}}]
healthy: [{delivered: {to: g, count: 0}}]
"""
SCENARIO = scenario_of(TEXT)
YES, NO, UNKNOWN = Holds.YES, Holds.NO, Holds.UNKNOWN


def answer(made: HistoryBuilder, word: str, scenario: Scenario = SCENARIO, **fields: Any) -> Answer:
    check = CHECKS[word].model_validate(fields)
    return check.evaluate(RunView(scenario, made.events))


def moment(made: HistoryBuilder, name: str = "end") -> HistoryBuilder:
    made.add("harness", "moment-observed", moment=name)
    return made


def pulled(name: str = "p1", **changes: Any) -> HistoryBuilder:
    made = HistoryBuilder().begin(SCENARIO)
    data = {
        "name": name, "code": 21, "status": "21 PULL_OFFSET_MOVED", "remark": "OFFSET_OVERFLOW_BADLY",
        "next_offset": 2, "min_offset": 0, "max_offset": 2, "messages": 0, "keys": [], "took_ms": 12.5,
    }  # fmt: skip
    made.add("harness", "pulled", **{**data, **changes})
    return made


PULLS: list[tuple[dict[str, Any], Holds]] = [
    ({"code": "PULL_OFFSET_MOVED"}, YES),
    ({"code": 21, "remark": "OFFSET_OVERFLOW", "next_offset": 2, "messages": 0}, YES),
    ({"code": "FOUND"}, NO),
    ({"code": 21, "remark": "OFFSET_TOO_SMALL"}, NO),
    ({"next_offset": 0}, NO),
    ({"min_offset": 0, "max_offset": 2}, YES),
    ({"max_offset": 3}, NO),
    ({"messages": 1}, NO),
    ({"keys": []}, YES),
    ({"keys": ["orders-1"]}, NO),
    ({"took_at_least": "12ms", "took_at_most": "13ms"}, YES),
    ({"took_at_least": "13ms"}, NO),
    ({"took_at_most": "12ms"}, NO),
]


@pytest.mark.parametrize(("fields", "holds"), PULLS, ids=[str(fields) for fields, _ in PULLS])
def test_a_pull_is_held_against_every_field_that_is_given(fields: dict[str, Any], holds: Holds) -> None:
    given = answer(pulled(), "pull", of="p1", **fields)
    assert given.holds is holds
    assert given.events


def test_a_blank_before_a_pull_s_remark_hides_nothing() -> None:
    made = pulled(remark=" request type 11 not supported")
    assert answer(made, "pull", of="p1", remark="request type 11").holds is YES
    assert answer(made, "pull", of="p1", remark="type 11").holds is NO


FAILED = "org.apache.rocketmq.tools.command.SubCommandException: failed\nCaused by: No topic route info\n"
TRACE = (
    FAILED.replace("failed\n", "failed\n" + "\tat org.apache.rocketmq.A.b(A.java:97)\n" * 9)
    + "\t... 2 more\n"
)
STATUS = "\n".join(
    ["bootTimestamp   : 1", *(f"setting{n}   : {n}" for n in range(40)), "msgGetTotalTodayNow     : 17"]
)
WRONG_USAGE = "Unrecognized option: -x\nusage: mqadmin consumerProgress [-g <arg>] [-h]\n"
"""As the tools of 5.5.0 say it."""
PROGRESS = "#Topic      #Broker Name  #QID\norders   broker-a  0   8   5   3\n\nDiff Total: 3\n"


def ran(output: str = PROGRESS, exit_code: int | None = 0) -> HistoryBuilder:
    made = HistoryBuilder().begin(SCENARIO)
    command = ["consumerProgress", "-g", "<g>"]
    made.add(
        "harness", "mqadmin-ran", name="m", command=command, exit_code=exit_code, output=output, seconds=4.0
    )
    return made


@pytest.mark.parametrize(
    ("made", "fields", "holds", "shown"),
    [
        (ran(), {"has": ["^orders", "Diff Total: 3$"]}, YES, "orders  broker-a  0  8  5  3 / Diff Total: 3"),
        (ran(), {"has": "Diff Total: 0"}, NO, "#Topic  #Broker Name  #QID / orders  broker-a"),
        (ran(), {"lacks": "Diff Total: 0"}, YES, "#Topic"),
        (ran(), {"has": "^orders", "lacks": "Total: 3"}, NO, "Diff Total: 3"),
        (ran(STATUS), {"has": r"msgGetTotalTodayNow\s*: 16"}, NO, "printed: msgGetTotalTodayNow  : 17"),
        (
            ran(STATUS),
            {"has": [r"^bootTime", r"msgGetTotalTodayNow\s*: 16"]},
            NO,
            "printed: bootTimestamp  : 1 / msgGetTotalTodayNow  : 17",
        ),
        (ran(STATUS), {"has": "putTps"}, NO, "printed: bootTimestamp  : 1 / setting0  : 0"),
        (ran(""), {"lacks": "ERROR"}, UNKNOWN, "of no output it can't be said what it lacks"),
        (ran(""), {"lacks": "ERROR"}, UNKNOWN, r"`has: \A\Z` says that there is none"),
        (ran(""), {"has": r"\A\Z"}, YES, "printed"),
        (ran("x\n\ny"), {"has": r"\A\Z"}, NO, "printed"),
        (ran(""), {"has": "ERROR"}, NO, "printed: nothing"),
        (ran(exit_code=None), {"has": "^orders"}, YES, "orders"),
        (ran(exit_code=None), {"has": "ERROR"}, UNKNOWN, "it had not ended after 4 s"),
        (ran(exit_code=None), {"lacks": "ERROR"}, UNKNOWN, "it had not ended after 4 s"),
        (ran(exit_code=None), {"lacks": "Diff"}, NO, "Diff Total: 3"),
        (ran(FAILED), {"lacks": "Diff"}, UNKNOWN, "the command failed"),
        (ran(FAILED), {"has": "Diff"}, UNKNOWN, "the command failed"),
        (
            ran(TRACE),
            {"lacks": "Diff"},
            UNKNOWN,
            "failed / Caused by: No topic route info; the command failed",
        ),
        (ran(FAILED), {"has": "No topic route info"}, YES, "No topic route info"),
        (ran("The sub command nonsense not exist."), {"lacks": "Diff"}, UNKNOWN, "the command failed"),
        (ran(WRONG_USAGE, 1), {"lacks": "Diff"}, UNKNOWN, "the command failed"),
        (HistoryBuilder().begin(SCENARIO), {"has": "x"}, UNKNOWN, "no command m was run"),
    ],
)
def test_what_mqadmin_printed_is_held_against_every_expression(
    made: HistoryBuilder, fields: dict[str, Any], holds: Holds, shown: str
) -> None:
    given = answer(made, "mqadmin", of="m", **fields)
    assert given.holds is holds, given.observed
    assert shown in given.observed


@pytest.mark.parametrize(
    ("fields", "holds", "shown"),
    [
        ({"has": "^<orders-1>  0$"}, YES, "printed: FD+1  0"),
        ({"has": "<orders-2>"}, NO, "printed: FD+1  0"),
        ({"has": "<orders-1.offset>"}, NO, "printed"),
        ({"lacks": "<orders-1>"}, NO, "printed"),
        ({"lacks": "<orders-2>"}, YES, "printed"),
        ({"lacks": "<orders-3>"}, UNKNOWN, "no broker has told the id of orders-3"),
        ({"has": "<bills-1>|FD"}, YES, "printed"),
    ],
)
def test_a_message_in_an_expression_is_its_id(fields: dict[str, Any], holds: Holds, shown: str) -> None:
    value = "FD+1  0"
    for word in ("mqadmin", "answer"):
        made = ran(value)
        made.add(
            "harness", "asked", name="m", of="broker-a", request=12, code=0, status="SUCCESS", text=value
        )
        for number in (1, 2):
            place = {"broker": "broker-a", "queue_id": 0, "queue_offset": number - 1, "status": "SEND_OK"}
            ids = {"msg_id": f"FD+{number}", "offset_msg_id": f"7F.{number}"}
            made.add("producer", "sent", key=f"orders-{number}", topic="orders", tag=None, **place, **ids)
        given = answer(made, word, of="m", **fields)
        assert given.holds is holds, (word, given.observed)
        assert shown in given.observed.replace("broker-a: SUCCESS, no remark, ", "printed: ")


def test_of_several_pulls_of_a_name_the_last_one_counts_and_of_none_nothing_is_known() -> None:
    made = pulled()
    made.events += pulled(code=0, status="0 FOUND").events
    assert answer(made, "pull", of="p1", code="FOUND").holds is YES
    assert answer(made, "pull", of="p2", code="FOUND").holds is UNKNOWN


def logged(count: int, lines: int, node: str = "broker-a", name: str = "end") -> HistoryBuilder:
    made = HistoryBuilder().begin(SCENARIO)
    for number in range(lines):
        made.add(node, "log-line", of=node, pattern="x+", time=None, text=f"{number} xx")
    made.add(node, "log-observed", of=node, pattern="x+", count=count, moment=name)
    return moment(made, name)


def test_log_lines_are_counted_also_beyond_those_that_are_written_down() -> None:
    made = logged(1500, 3)
    given = answer(made, "log", node="broker-a", matches="x+", count=1500)
    assert given.holds is YES
    assert len(given.events) == 3
    assert answer(made, "log", node="broker-a", matches="x+", at_most=3).holds is NO
    assert answer(made, "log", node="broker-a", matches="x+", at_least=1501).holds is NO


def test_a_log_that_was_not_read_says_nothing() -> None:
    assert answer(logged(0, 0), "log", node="broker-a", matches="x+", count=0).holds is YES
    assert answer(logged(0, 0), "log", node="broker-a", matches="y+", count=0).holds is UNKNOWN
    assert answer(logged(0, 0, name="before"), "log", node="broker-a", matches="x+", count=0).holds is UNKNOWN
    assert answer(logged(0, 0), "log", node="nameserver", matches="x+", count=0).holds is UNKNOWN
    assert answer(logged(0, 0), "log", consumer="$holder", matches="x+", count=0).holds is UNKNOWN


def test_the_logs_of_all_consumers_that_a_variable_means_are_counted_together() -> None:
    made = logged(2, 2, node="a")
    made.add("harness", "bound", variable="others", consumers=["a"])
    assert answer(made, "log", consumer="$others", matches="x+", count=2).holds is YES


def notified() -> HistoryBuilder:
    made = HistoryBuilder().begin(SCENARIO)
    made.add("h1", "heartbeat-sent", client_id="h1@t", group="g")
    made.add("h1", "notified", broker="broker-a", group="g")
    moment(made, "before")
    made.add("h1", "notified", broker="broker-a", group="g")
    made.add("h1", "notified", broker="broker-a", group="other")
    return moment(made)


def test_notifications_are_counted_from_one_observation_to_another() -> None:
    assert answer(notified(), "notified", client="h1", count=3).holds is YES
    assert answer(notified(), "notified", client="h1", group="g", count=2).holds is YES
    assert answer(notified(), "notified", client="h1", since="before", group="g", count=1).holds is YES
    assert answer(notified(), "notified", client="h1", at="before", count=1).holds is YES
    assert answer(notified(), "notified", client="h1", since="before", count=0).holds is NO


def test_of_a_client_that_never_spoke_no_notification_is_expected_or_missed() -> None:
    assert answer(notified(), "notified", client="h2", count=0).holds is UNKNOWN
    assert answer(notified(), "notified", client="h1", since="never", count=0).holds is UNKNOWN


def test_offsets_of_queues_that_were_not_to_be_seen_are_unknown() -> None:
    made = HistoryBuilder().begin(SCENARIO)
    made.offsets("g", "orders", [(2, 2)] * 3, moment="end")
    moment(made)
    given = answer(made, "offsets", group="g", topic="orders", lag=0)
    assert given.holds is UNKNOWN
    assert "the other queues were not to be seen" in given.observed


def test_an_offset_beyond_the_end_makes_up_for_no_lag() -> None:
    made = HistoryBuilder().begin(SCENARIO)
    made.offsets("g", "orders", [(100, 2), (0, 2), (2, 2), (2, 2)], moment="end")
    moment(made)
    assert answer(made, "offsets", group="g", topic="orders", lag=2).holds is NO
    assert answer(made, "offsets", group="g", topic="orders", lag=0).holds is NO
    assert answer(made, "offsets", group="g", topic="orders", lag=-98).holds is NO


def test_a_negative_lag_is_what_offsets_are_beyond_the_ends() -> None:
    made = HistoryBuilder().begin(SCENARIO)
    made.offsets("g", "orders", [(3, 2), (4, 2), (2, 2), (2, 2)], moment="end")
    moment(made)
    assert answer(made, "offsets", group="g", topic="orders", lag=-3).holds is YES
    assert answer(made, "offsets", group="g", topic="orders", lag=-2).holds is NO
    assert answer(made, "offsets", group="g", topic="orders", lag_at_most=0).holds is NO


def shared(closed: bool) -> HistoryBuilder:
    made = HistoryBuilder().begin(SCENARIO)
    made.start(SCENARIO, "a")
    made.add("z", "heartbeat-sent", client_id="z@t", group="g")
    if closed:
        made.add("z", "hand-made-closed", client_id="z@t")
    made.offsets("g", "orders", [(0, 0)] * 4, moment="end")
    made.owns(SCENARIO, "a", "orders", [0, 1], moment="end")
    return moment(made)


def test_hand_made_members_have_their_share_until_they_leave() -> None:
    assert answer(shared(closed=False), "ownership", group="g", topic="orders").holds is YES
    assert answer(shared(closed=True), "ownership", group="g", topic="orders").holds is NO
