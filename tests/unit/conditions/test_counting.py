"""The conditions of `settle` that count: not there yet, there, and what they say of what was seen."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.assertions.view import RunView
from rocketchaos.harness.conditions.dead_letters_there import dead_letters_there
from rocketchaos.harness.conditions.lines_logged import lines_logged
from rocketchaos.harness.conditions.listeners_blocked import listeners_blocked
from rocketchaos.harness.conditions.messages_delivered import _printed as printed_by
from rocketchaos.harness.conditions.messages_delivered import messages_delivered
from rocketchaos.harness.conditions.offsets_reached import offsets_reached
from rocketchaos.harness.conditions.retries_came import retries_came
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.engine.placement import own_processes
from rocketchaos.harness.probes.context import ProbeContext
from tests.unit.history_builder import BROKER, HistoryBuilder, scenario_of

SCENARIO = """\
name: conditions
title: conditions
topics: {orders: {queues: 2}, bills: {queues: 1}}
consumers:
  a: {group: g, subscribe: {orders: '*', bills: '*'}, behaviour: block}
  b: {group: g, subscribe: {orders: '*', bills: '*'}}
steps:
  - start: [a, b]
  - settle: {log: b, matches: so do flow control}
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""


class Counted(HistoryBuilder):
    """A history that grows, and what the conditions need of a ProbeContext besides."""

    def __init__(self, logs: Path | None = None) -> None:
        super().__init__()
        self.scenario = scenario_of(SCENARIO)
        self.begin(self.scenario)
        for name in ("a", "b"):
            self.start(self.scenario, name)
        self.letters: int | RequestFailed = 0
        self.queues = [(2, 4), (3, 3)]
        self.logs = logs
        self.failures: list[str] = []

    @property
    def context(self) -> ProbeContext:
        """Only what is asked of it; the conditions take nothing else."""

        def offsets(group: str, topic: str) -> dict[str, Any]:
            if topic.startswith("%DLQ%"):
                if isinstance(self.letters, RequestFailed):
                    raise self.letters
                return {"queues": [{"max_offset": self.letters}]}
            return {
                "queues": [
                    {"broker": BROKER, "queue_id": number, "max_offset": end, "consumer_offset": own}
                    for number, (own, end) in enumerate(self.queues)
                ]
            }

        return cast(
            ProbeContext,
            SimpleNamespace(
                scenario=self.scenario,
                history=SimpleNamespace(events=self.events),
                admin=SimpleNamespace(offsets=offsets),
                producer=SimpleNamespace(acknowledged=()),
                names=SimpleNamespace(token="k3x9", real=str),
                logs=SimpleNamespace(folder=self.logs),
                observations=SimpleNamespace(
                    only=lambda _probe: nullcontext(),
                    write=lambda *_unused: None,
                    note_failure=lambda _probe, error, **_where: self.failures.append(error),
                ),
                servers=SimpleNamespace(why_not_asked=lambda _topic: None, is_node=lambda _name: False),
                variables=SimpleNamespace(resolve=list),
                now_ns=lambda: 0,
            ),
        )

    def got(self, name: str, key: str, topic: str = "orders", times: int = 0) -> None:
        where = {"broker": BROKER, "queue_id": 0, "offset": 0, "reconsume_times": times}
        self.add(name, "received", topic=topic, key=key, tag=None, **where)


def test_delivered_counts_different_messages_of_the_topic() -> None:
    counted = Counted()
    counted.got("a", "orders-1")
    counted.got("b", "orders-1")
    counted.got("b", "bills-1", "bills")
    assert not messages_delivered(counted.context, "g", "orders", None, 2).holds
    assert messages_delivered(counted.context, "g", None, None, 2).holds
    assert not messages_delivered(counted.context, "a", None, None, 2).holds
    counted.got("a", "orders-2")
    assert messages_delivered(counted.context, "g", "orders", None, 2).text == "2 delivered"
    assert not messages_delivered(counted.context, "$holder", None, None, 1).holds


def test_delivered_counts_messages_of_the_tag_that_they_were_sent_with() -> None:
    counted = Counted()
    for number, tag in enumerate(("tagA", "tagB", None)):
        counted.got("a", counted.send("orders", tag, number, 0, number))
    assert messages_delivered(counted.context, "g", None, "tagA", 1).text == "1 delivered"
    assert not messages_delivered(counted.context, "g", None, "tagA", 2).holds
    assert not messages_delivered(counted.context, "g", "bills", "tagA", 1).holds


def test_delivered_counts_a_delayed_message_by_the_tag_with_which_it_arrives() -> None:
    counted = Counted()
    where = {"broker": BROKER, "queue_id": 0, "offset": 0, "reconsume_times": 0}
    counted.add("a", "received", topic="orders", key="orders-1", tag="tagA", **where)
    assert messages_delivered(counted.context, "g", "orders", "tagA", 1).text == "1 delivered"
    assert not messages_delivered(counted.context, "g", "orders", "tagB", 1).holds


def test_retried_counts_deliveries_that_were_retries() -> None:
    counted = Counted()
    counted.got("a", "orders-1")
    assert not retries_came(counted.context, "g", 1).holds
    counted.got("b", "orders-1", times=1)
    assert retries_came(counted.context, "g", 1).holds
    assert retries_came(counted.context, "g", 2).text == "1 retries"


def test_blocked_is_over_once_the_listener_returns_or_starts_anew() -> None:
    counted = Counted()
    for key in ("orders-1", "orders-2"):
        counted.add("a", "blocked", key=key)
    assert listeners_blocked(counted.context, "a", 2).text == "blocked on a: orders-1, orders-2"
    counted.add("a", "consumed", key="orders-1", status="CONSUME_SUCCESS")
    assert not listeners_blocked(counted.context, "a", 2).holds
    assert listeners_blocked(counted.context, "g", 1).holds
    counted.start(counted.scenario, "a")
    assert listeners_blocked(counted.context, "a", 1).text == "blocked on a: nothing"


def test_dead_letters_that_can_t_be_read_are_none() -> None:
    counted = Counted()
    assert not dead_letters_there(counted.context, "g", 1).holds
    counted.letters = 2
    assert dead_letters_there(counted.context, "g", 2).holds
    counted.letters = RequestFailed("no route", code=17)
    assert dead_letters_there(counted.context, "g", 1).text == "0 dead letters"
    counted.letters = RequestFailed("busy", code=2)
    assert "can't be read" in dead_letters_there(counted.context, "g", 1).text
    assert counted.failures == ["busy"]


def test_log_counts_the_lines_of_the_consumer(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "rocketmq_client.log").write_text("so do flow control, orders-k3x9\nother\n")
    counted = Counted(tmp_path)
    assert lines_logged(counted.context, "b", r"flow control, orders\n?$", 1).holds
    assert not lines_logged(counted.context, "b", "flow control", 2).holds


def test_who_is_asked_for_the_log_has_a_process_and_so_a_log_of_its_own() -> None:
    assert own_processes(Counted().scenario) == {"b"}


@pytest.mark.parametrize(("whose", "holds"), [(None, False), ("a", False), ("b", True)])
def test_offsets_of_one_member_look_at_its_queues_alone(whose: str | None, holds: bool) -> None:
    counted = Counted()
    counted.owns(counted.scenario, "a", "orders", [0])
    counted.owns(counted.scenario, "b", "orders", [1])
    assert offsets_reached(counted.context, "g", "orders", 0, whose).holds is holds


def test_offsets_of_a_member_that_was_never_seen_to_own_anything_are_not_reached() -> None:
    seen = offsets_reached(Counted().context, "g", "orders", 9, "a")
    assert (seen.holds, seen.text) == (False, "it was never seen which queues a owns")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"lines": 0, "found": 0, "last": ""}, "a has printed no line: if it logs to a file"),
        (
            {"lines": 0, "found": 0, "last": "xx"},
            "a has printed no line, only the beginning of one: 'xx': if",
        ),
        (
            {"lines": 3, "found": 1, "last": "yy"},
            "finds 1 of the 3 lines that a has printed; the last line: 'yy'",
        ),
    ],
)
def test_what_a_program_has_printed_so_far(told: dict[str, Any], said: str) -> None:
    sees = "app: {command: [./a], sees: {log: '(?P<key>\\S+)'}}"
    scenario = scenario_of(SCENARIO.replace("behaviour: block", sees))
    consumers = {"a": SimpleNamespace(printed=lambda: told, entries_seen=lambda: None)}
    view = RunView(scenario, HistoryBuilder().begin(scenario).events)
    (text,) = printed_by(cast(ProbeContext, SimpleNamespace(consumers=consumers)), view, ["a"])
    assert said in text
