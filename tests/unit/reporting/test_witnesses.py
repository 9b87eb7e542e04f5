"""Where the witnesses differ: a real dashboard that was asked beside the brokers' own tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.reporting.parts.witnesses import divergences, last_tracks
from tests.unit.assertions.test_dashboard import PASSED, Shown
from tests.unit.assertions.test_seen_from_outside import Story
from tests.unit.history_builder import HistoryBuilder, scenario_of
from tests.unit.reporting.reports import good, report_of

PROGRAM = """\
name: a-program
title: a is a program
topics: {orders: {queues: 1}}
consumers:
  a: {group: g, DECLARED, app: {jar: a.jar}}
  b: {group: g, subscribe: {orders: A}}
steps: [{start: a}]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""

UNHEARD = (
    "The dashboard shows CONSUMED for 4 messages of group g that no listener got: CONSUMED says that the offset "
    "passed, not that anybody handled it."
)


def printed(shown: Shown, folder: Path) -> list[str]:
    """The divergences, but those of offsets."""
    shown.made.add("harness", "moment-observed", moment="end")
    report = report_of(shown.scenario, shown.made.events, folder)
    return [text for text in divergences(report) if text.startswith("The dashboard")]


@pytest.mark.parametrize(
    ("declared", "own", "shown"),
    [
        ("subscribe: {orders: A}, ", {"orders": "A"}, []),
        ("subscribe: {orders: A}, ", {"orders": "A || A"}, []),
        (
            "subscribe: {orders: A}, ",
            {"orders": "B"},
            ["subscribes to orders 'B', and the scenario says orders 'A'"],
        ),
        ("", {"orders": "B"}, []),
        ("", {"orders": "B", "refunds": "*"}, ["subscribes to refunds, which is no topic of the scenario"]),
    ],
)
def test_a_program_that_subscribes_otherwise(
    declared: str, own: dict[str, str], shown: list[str], tmp_path: Path
) -> None:
    scenario = scenario_of(PROGRAM.replace("DECLARED, ", declared))
    made = HistoryBuilder().begin(scenario)
    made.add("a", "program-subscription", subscribe=own, pid=200)
    texts = [text for text in divergences(report_of(scenario, made.events, tmp_path)) if "program" in text]
    assert len(texts) == len(shown)
    assert all(part in text for part, text in zip(shown, texts, strict=True))


def test_a_program_that_subscribes_while_it_runs(tmp_path: Path) -> None:
    scenario = scenario_of(PROGRAM.replace("DECLARED, ", "subscribe: {orders: A}, "))
    made = HistoryBuilder().begin(scenario)
    for _ in range(2):
        made.add("a", "program-subscription", subscribe={"orders": "A"}, pid=200)
        made.add("a", "subscribed", topic="refunds", expression="*")
    texts = [text for text in divergences(report_of(scenario, made.events, tmp_path)) if "program" in text]
    assert [text.partition(":")[0] for text in texts] == [
        "The program of a subscribes to orders 'A', refunds '*', and the scenario says orders 'A'",
        "The program of a subscribes to refunds, which is no topic of the scenario",
    ]


def test_where_no_dashboard_was_asked_it_says_what_any_of_them_shows(tmp_path: Path) -> None:
    assert UNHEARD.replace("The dashboard", "A dashboard") in divergences(good(tmp_path))


def test_a_dashboard_that_agrees_differs_from_listeners_alone(tmp_path: Path) -> None:
    assert printed(Shown().all(), tmp_path) == [UNHEARD]


def test_other_tracks_than_the_tools_of_the_brokers_version_have(tmp_path: Path) -> None:
    assert printed(Shown().tracks("UNKNOWN").connections(), tmp_path) == [
        "The dashboard shows UNKNOWN for 8 messages of group g, the tools of the broker's own version CONSUMED."
    ]


def test_a_group_that_is_not_listed_is_not_shown_as_consumed(tmp_path: Path) -> None:
    shown = Shown().tracks(None).connections()
    assert printed(shown, tmp_path) == [
        "The dashboard shows nothing for 8 messages of group g, the tools of the broker's own version CONSUMED."
    ]
    assert last_tracks(report_of(shown.scenario, shown.made.events, tmp_path)) == {}


def test_messages_heard_of_which_it_shows_otherwise_by_its_own_fault(tmp_path: Path) -> None:
    texts = printed(Shown().tracks("NOT_CONSUME_YET").connections(), tmp_path)
    assert [text for text in texts if "judges old messages" in text] == []
    assert len(texts) == 1


def test_another_subscription_than_the_broker_holds(tmp_path: Path) -> None:
    assert printed(Shown().tracks().connections("tagA"), tmp_path) == [
        UNHEARD,
        "The dashboard shows tagA as the subscription of group g for orders, broker-a holds tagB.",
    ]
    assert "shows none as the subscription" in printed(Shown().tracks().connections(None), tmp_path)[1]


def test_what_it_lists_that_is_no_group(tmp_path: Path) -> None:
    shown = Shown().tracks(keys=PASSED, orders="UNKNOWN", other="PULL").connections()
    assert printed(shown, tmp_path) == [
        UNHEARD,
        "The dashboard lists orders as a group, UNKNOWN, for 8 messages; the run has no such group: that is the "
        "topic.",
        "The dashboard lists other as a group, PULL, for 8 messages; the run has no such group.",
    ]


@pytest.mark.parametrize(("own", "told"), [("tagB", 0), ("tagA", 1)])
def test_a_missing_line_of_a_program_contradicts_nobody(tmp_path: Path, own: str, told: int) -> None:
    """A program that printed nothing may have handled it, unless the broker passed it over."""
    story = Story(own=own, stored=own).sent().passed()
    story.made.add("harness", "tracks-observed", topic="orders", key="orders-1", tracks={"g": "CONSUMED"})
    report = report_of(story.scenario, story.made.events, tmp_path)
    assert sum("shows CONSUMED for 1 message" in text for text in divergences(report)) == told


@pytest.mark.parametrize(("lines", "shown"), [(0, None), (1, "1 line of a"), (2, "2 lines of a")])
def test_lines_that_count_for_no_message_are_shown_where_one_is_unknown(
    tmp_path: Path, lines: int, shown: str | None
) -> None:
    story = Story().sent()
    for number in range(lines):
        story.made.add(
            "a", "line-of-no-message", line=f"handled {number}", reason="no message has the key '0'"
        )
    report = report_of(story.passed().scenario, story.made.events, tmp_path)
    texts = [text for text in divergences(report) if "`sees`" in text]
    why = "the first is 'handled 0': no message has the key '0'."
    assert texts == ([f"`sees` gets no message out of {shown}; {why}"] if shown else [])


def test_such_lines_are_left_out_where_all_messages_are_known(tmp_path: Path) -> None:
    story = Story(own="tagA", stored="tagA").sent()
    story.made.add("a", "line-of-no-message", line="handled 0", reason="no message has the key '0'")
    report = report_of(story.passed().scenario, story.made.events, tmp_path)
    assert [text for text in divergences(report) if "`sees`" in text] == []
