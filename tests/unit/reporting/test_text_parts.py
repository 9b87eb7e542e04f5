"""The small pieces: text, shares, the time axis, Markdown."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.core.text import (
    event_numbers,
    one_line,
    percent,
    printable,
    ranges,
    seconds_text,
    some,
)
from rocketchaos.harness.reporting.parts.facts import facts_line
from rocketchaos.harness.reporting.parts.markdown import cell, code
from rocketchaos.harness.reporting.parts.process_times import consumer_life, server_life
from rocketchaos.harness.reporting.parts.queues import queue_lines
from rocketchaos.harness.reporting.parts.shares import Holder, holder_of, repeats, share
from rocketchaos.harness.reporting.parts.story import LINE_LIMIT, story
from rocketchaos.harness.reporting.parts.time_scale import TimeScale
from rocketchaos.harness.reporting.parts.verdict import logs_to_read
from tests.unit.history_builder import BROKER, HistoryBuilder, eight_messages, scenario_of
from tests.unit.reporting.reports import broken, good, troubled


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 中", "plain é 中"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\tb\r\n", "a\\tb\\r\\n"),
        ("\ud800", "\\ud800"),
        ("\u202eevil", "\\u202eevil"),
        ("\x00", "\\x00"),
    ],
)
def test_control_characters_become_visible(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(alphabet=st.characters()))
def test_printable_text_can_always_be_encoded_and_holds_no_controls(text: str) -> None:
    shown = printable(text, keep="\n")
    shown.encode("utf-8")
    assert all(item.isprintable() or item == "\n" or item == " " or item.isspace() for item in shown)


@pytest.mark.parametrize(
    ("fault", "ends"), [("kill", ["fault-effective"]), ("terminate", ["consumer-stopped"])]
)
def test_a_process_ends_once_whatever_ended_it(fault: str, ends: list[str]) -> None:
    made = HistoryBuilder()
    made.add("a", "consumer-started")
    made.at(5).add("harness", "fault-injected", fault=fault, target="a")
    if fault == "terminate":
        made.add("a", "consumer-stopping")
        made.add("a", "consumer-stopped")
    made.add("harness", "fault-effective", fault=fault, target="a", proof="it is")
    pieces, found = consumer_life(made.events, "a", lambda event: event.mono_ns / 1e9, 9.0)
    assert [event.kind for event in found] == ends
    assert [piece.style for piece in pieces] == ["alive"]


@pytest.mark.parametrize(
    ("fault", "style"), [("restart", "alive"), ("upgrade", "alive"), ("pause", "paused")]
)
def test_a_server_that_has_restarted_runs(fault: str, style: str) -> None:
    made = HistoryBuilder()
    made.add(BROKER, "node-ready", role="broker", address="127.0.0.1:10911", pid=101)
    made.at(5).add("harness", "fault-injected", fault=fault, target=BROKER)
    made.add(BROKER, "node-ready", role="broker", address="127.0.0.1:10911", pid=102)
    made.add("harness", "fault-effective", fault=fault, target=BROKER, proof="it is")
    pieces = server_life(made.events, BROKER, lambda event: event.mono_ns / 1e9, 9.0)
    assert pieces[-1].style == style


def test_numbers_are_shown_as_ranges() -> None:
    assert ranges([5, 1, 2, 3, 9, 9]) == "1-3, 5, 9"
    assert ranges([1, 3, 5, 7], limit=2) == "1, 3, …"
    assert event_numbers((7,)) == "event 7"
    assert event_numbers((7, 8)) == "events 7-8"
    assert event_numbers(()) == ""


def test_small_words() -> None:
    assert seconds_text(0.004) == "0.004 s"
    assert seconds_text(3.24) == "3.2 s"
    assert seconds_text(125) == "2 min 05 s"
    assert percent(0.995) == "99.5 %"
    assert percent(1) == "100 %"
    assert some(["a", "b", "c"], 2) == "a, b and 1 more"
    assert one_line("a\n  b") == "a b"


@given(st.text())
def test_a_markdown_cell_is_one_line_without_live_markup(text: str) -> None:
    shown = cell(text)
    assert "\n" not in shown
    for live in ("<", "|"):
        assert shown.count(live) == shown.count("\\" + live)


def test_code_outlasts_backticks_and_bars() -> None:
    assert code("a`b|c") == "``a`b\\|c``"
    assert code("`a`") == "`` `a` ``"


def test_shares_have_wilson_intervals() -> None:
    half = share(5, 10)
    assert half.share == 0.5
    assert half.low == pytest.approx(0.2366, abs=1e-4)
    assert half.high == pytest.approx(0.7634, abs=1e-4)


def test_repeats_tell_the_first_starter_from_a_later_one(tmp_path: Path) -> None:
    runs = [good(tmp_path), good(tmp_path, attempts=3), good(tmp_path, holder="a"), broken(tmp_path)]
    (group,) = repeats(runs)
    assert group.attempts == 6
    assert {kind: outcome.count for kind, outcome in group.outcomes().items()} == {
        OutcomeKind.REPRODUCED: 3,
        OutcomeKind.ERROR: 1,
    }
    assert {holder: item.count for holder, item in group.holders().items()} == {
        Holder("b", "later"): 3,
        Holder("a", "first"): 1,
    }


def test_repeats_tell_what_else_a_race_decided(tmp_path: Path) -> None:
    runs = [good(tmp_path), good(tmp_path), good(tmp_path, holder="a")]
    winner = {"variable": "winner", "consumers": ["b"]}
    renamed = [
        replace(event, data=winner) if event.data.get("variable") == "holder" else event
        for event in runs[0].events
    ]
    (group,) = repeats([replace(runs[0], events=renamed), *runs[1:]])
    counts = {
        name: {value: item.count for value, item in values.items()} for name, values in group.values().items()
    }
    assert counts == {
        "$winner": {"b": 1},
        "stored for g, orders": {"tagB": 2, "tagA": 1},
    }


def test_runs_on_different_versions_are_no_repeats(tmp_path: Path) -> None:
    assert repeats([good(tmp_path), good(tmp_path, rocketmq="5.3.3")]) == []


def test_a_run_that_bound_nobody_has_no_holder(tmp_path: Path) -> None:
    run = good(tmp_path)
    unbound = type(run)(run.scenario, run.outcome, run.events[:5], run.record, run.folder)
    assert holder_of(unbound) is None


@given(st.lists(st.floats(min_value=0, max_value=1e5), max_size=30))
def test_the_time_axis_keeps_the_order(times: list[float]) -> None:
    scale = TimeScale(times, 1000)
    placed = [scale(time) for time in sorted(times)]
    assert placed == sorted(placed)
    assert all(0 <= x <= 1000 for x in placed)
    ticks = scale.ticks(60)
    assert all(after.x - before.x >= 60 for before, after in pairwise(ticks))


def test_dense_moments_get_more_room_than_on_a_linear_axis() -> None:
    times = [0, 30, 30.01, 30.02]
    squeezed, linear = TimeScale(times, 1000), TimeScale(times, 1000, squeezed=False)
    assert squeezed(30.02) - squeezed(30) > 10 * (linear(30.02) - linear(30))


def test_the_story_has_who_started_what_was_stored_sent_and_delivered() -> None:
    _, events = eight_messages()
    found = [line.text for line in story(events)]
    assert found[0] == "a starts, subscribing orders 'tagA'"
    assert "broker-a holds as the subscription of group g: orders 'tagB'" in found
    assert "$holder is b" in found
    assert "8 messages of tag tagB sent to orders, to 4 queues, 2 to each" in found
    assert "b got 4 messages, from queues broker-a:2-3" in found


def test_the_story_of_a_program_of_the_user_s_has_its_own_subscriptions() -> None:
    made = HistoryBuilder()
    made.add("a", "consumer-starting", subscribe={})
    made.add("a", "program-subscription", subscribe={"orders": "tagA"}, pid=200)
    made.add("a", "subscribed", topic="refunds", expression="*")
    assert [line.text for line in story(made.events)] == [
        "a starts",
        "a is in process 200, which subscribes by itself: orders 'tagA'",
        "a subscribes while it runs: refunds '*'",
    ]


def test_the_story_has_what_brokers_hold_back_and_when_it_is_found() -> None:
    made = HistoryBuilder()
    sending = {"topic": "orders", "tag": "tagA", "status": "SEND_OK"}
    for number in (1, 2):
        made.add("producer", "send-accepted", **sending, key=f"orders-{number}", how="delayed")
    made.step(1, "observe")
    stored = {"broker": "broker-a", "queue_offset": 0, "msg_id": None, "offset_msg_id": None}
    for number in (1, 2):
        made.add("producer", "sent", **sending, **stored, key=f"orders-{number}", queue_id=number)
    assert [line.text for line in story(made.events) if "messages" in line.text] == [
        "2 messages of tag tagA sent with a delay to orders",
        "2 messages of tag tagA found in orders, in 2 queues, 1 to each",
    ]


def test_the_story_has_what_steps_change_and_ask() -> None:
    made = HistoryBuilder()
    made.step(0, "start")
    made.add("a", "subscribed", topic="orders", expression="tagB")
    made.add("a", "subscribed", topic="orders", expression={"sql": "region = 'eu'"})
    made.add("a", "unsubscribed", topic="orders")
    queues = [{"broker": BROKER, "queue_id": 0}]
    made.add("a", "sought", topic="orders", to="begin", queues=queues)
    made.add("a", "consumer-suspended")
    made.add("a", "consumer-resumed")
    made.add("a", "listener-released")
    queue = {"broker": BROKER, "queue_id": 0, "offset": 7}
    made.add("harness", "offsets-reset", group="g", topic="orders", queues=[queue])
    made.add("harness", "broker-configured", broker=BROKER, set={"brokerPermission": "4"}, before={})
    made.add("harness", "topic-configured", topic="orders", settings={"perm": 4}, brokers=[BROKER])
    made.add("harness", "group-configured", group="g", settings={"consumeEnable": False}, brokers=[BROKER])
    made.add("harness", "topic-deleted", topic="orders", brokers=[BROKER], then={})
    made.add("harness", "group-deleted", group="g", offsets=True, brokers=[BROKER])
    made.add("harness", "asked", name="p", of=BROKER, request=203, code=206, status="206 CONSUMER_NOT_ONLINE")
    command = ["consumerProgress", "-g", "<g>"]
    made.add("harness", "mqadmin-ran", name="m", command=command, exit_code=0, output="", seconds=1.0)
    assert [line.text for line in story(made.events)] == [
        "a subscribes while it runs: orders 'tagB'",
        "a subscribes while it runs: orders by SQL \"region = 'eu'\"",
        "a unsubscribes from orders",
        "a seeks to begin in orders: broker-a:0",
        "a pulls no more",
        "a pulls again",
        "the listener of a blocks no more",
        "the offsets of g for orders are set: broker-a:0 7",
        "broker-a gets new settings: brokerPermission 4",
        "orders has the settings perm 4",
        "the group g has the settings consumeEnable false",
        "orders is deleted on broker-a",
        "the group g is deleted on broker-a, with its offsets",
        "request 203 to broker-a: 206 CONSUMER_NOT_ONLINE",
        "mqadmin consumerProgress -g <g>",
    ]


def test_a_long_story_leaves_out_its_middle_and_says_so() -> None:
    made = HistoryBuilder()
    made.step(0, "start")
    for number in range(200):
        made.stored("g", {"orders": f"tag{number}"}, ["a"])
    lines = story(made.events)
    assert len(lines) == LINE_LIMIT + 1
    assert any("140 more things happened" in line.text for line in lines)


@pytest.mark.parametrize(
    ("trouble", "about", "expected"),
    [
        ("precondition", ("b",), ["logs/a.log", "logs/b.log"]),
        ("precondition", (), ["logs/a.log"]),
        ("harness", ("b",), ["logs/harness-traceback.txt", "logs/a.log", "logs/b.log"]),
        ("interrupted", ("b",), []),
    ],
)
def test_the_logs_to_read_are_of_whom_the_trouble_is_about_whatever_it_says(
    tmp_path: Path, trouble: str, about: tuple[str, ...], expected: list[str]
) -> None:
    run = troubled(tmp_path, trouble, "c and broker-a did nothing", about)
    for name in ("a.log", "b.log", "c.log", "harness-traceback.txt"):
        (tmp_path / "logs" / name).write_text("")
    assert logs_to_read(run) == expected


def test_the_logs_of_a_program_begin_with_its_output(tmp_path: Path) -> None:
    run = troubled(tmp_path, "environment", "c did nothing", ("c",))
    (tmp_path / "logs" / "c").mkdir()
    for name in ("c.log", "c/plan.json", "c/rocketmq_client.log"):
        (tmp_path / "logs" / name).write_text("")
    assert logs_to_read(run) == ["logs/c.log", "logs/c/rocketmq_client.log"]


def test_the_versions_of_an_upgrade_are_in_the_head(tmp_path: Path) -> None:
    run = good(tmp_path)
    first = run.record["rocketmq"]
    assert f"RocketMQ {first} ·" in facts_line(run)
    upgraded = scenario_of(
        "name: up\ntitle: Up\ntopics: {orders: {queues: 4}}\n"
        "consumers:\n  a: {group: g, subscribe: {orders: tagA}}\n"
        "steps:\n- start: a\n- upgrade: {broker: broker-a, to: 5.5.0}\n- upgrade: {broker: broker-a, to: 4.9.4}\n"
        "anomaly: [{delivered: {to: g, count: 1}}]\nhealthy: [{delivered: {to: g, count: 2}}]\n"
    )
    assert f"RocketMQ {first}, then 5.5.0, then 4.9.4 ·" in facts_line(replace(run, scenario=upgraded))


def test_nobody_is_said_to_own_no_queue_of_a_static_topic(tmp_path: Path) -> None:
    run = good(tmp_path)
    assert {line.owner for line in queue_lines(run)} == {"a", "b"}
    divided = []
    for event in run.events:
        if event.kind == "ownership-observed":
            queues = [{**queue, "broker": "__syslo__global__"} for queue in event.data["queues"]]
            event = replace(event, data={**event.data, "queues": queues})
        divided.append(event)
    assert {line.owner for line in queue_lines(replace(run, events=divided))} == {"unknown"}
