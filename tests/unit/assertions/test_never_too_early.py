"""Histories in which something is still on its way, or is not what it looks like: no check may be sure."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.assertions.oracle import fates
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds, MessageClass
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.history_builder import BROKER, HistoryBuilder, scenario_of

BOTH = """\
  a: {group: g, subscribe: {orders: tagA}}
  b: {group: g, subscribe: {orders: tagA}}
"""


class Story(HistoryBuilder):
    """A run of a and b on one queue."""

    def __init__(self, *checks: str, consumers: str = BOTH, top: str = "") -> None:
        super().__init__()
        self.scenario: Scenario = scenario_of(
            f"name: x\ntitle: t\n{top}topics: {{orders: {{queues: 1}}}}\nconsumers:\n{consumers}"
            f"steps: [{{start: [a, b]}}]\nanomaly: [{', '.join(f'{{{check}}}' for check in checks)}]\n"
            "healthy: [{delivered: {to: g, count: 99}}]\n"
        )
        self.begin(self.scenario)
        self.events[0].data["timing"] = "compressed"  # type: ignore[index]

    def got(self, name: str, number: int, answer: str | None = None, times: int = 0) -> None:
        message = {"topic": "orders", "key": f"orders-{number}", "tag": "tagA", "reconsume_times": times}
        where = {"broker": BROKER, "queue_id": 0, "offset": number - 1}
        self.add(name, "received", **message, **where, msg_id="I", offset_msg_id="O")
        if answer is not None:
            self.add(name, "consumed", key=f"orders-{number}", status=answer)

    def ended(self, consumer_offset: int, sent: int = 1, owner: str = "a", stored: str = "tagA") -> None:
        self.stored("g", {"orders": stored}, ["a"], moment="end")
        self.offsets("g", "orders", [(consumer_offset, sent)], moment="end")
        self.owns(self.scenario, owner, "orders", [0], moment="end")
        self.add("harness", "moment-observed", moment="end")
        self.add("harness", "run-ended")

    def holds_at_the_end(self) -> list[Holds]:
        """As though the run ended now, with nobody who owns the queue."""
        before = len(self.events)
        self.stored("g", {"orders": "tagB"}, ["a"], moment="end")
        self.offsets("g", "orders", [(1, 2)], moment="end")
        self.owns(self.scenario, "a", "orders", [], moment="end")
        self.add("harness", "moment-observed", moment="end")
        found = self.holds()
        del self.events[before:]
        return found

    def holds(self) -> list[Holds]:
        view = RunView(self.scenario, self.events)
        return [check.evaluate(view).holds for check in self.scenario.anomaly]

    def classes(self) -> list[MessageClass]:
        view = RunView(self.scenario, self.events)
        return [fate.message_class for fate in fates(view, self.events[-1].n)]


def reset(story: Story, offset: int) -> None:
    queues: list[dict[str, Any]] = [{"broker": BROKER, "queue_id": 0, "offset": offset}]
    story.add("harness", "offsets-reset", group="g", topic="orders", queues=queues)


def test_an_offset_that_was_set_back_has_passed_nothing() -> None:
    story = Story("delivered: {to: g, count: 0}", "undelivered: {count: 0, because: in-flight}")
    story.start(story.scenario, "a")
    story.offsets("g", "orders", [(0, 0)])
    story.send("orders", "tagA", 1, 0, 0)
    story.offsets("g", "orders", [(1, 1)])
    reset(story, 0)
    story.ended(0)
    assert story.holds() == [Holds.UNKNOWN, Holds.UNKNOWN]
    assert story.classes() == [MessageClass.IN_FLIGHT]


def test_what_an_offset_was_set_past_is_not_lost() -> None:
    story = Story("undelivered: {count: 1, because: lost}")
    story.start(story.scenario, "a")
    story.stored("g", {"orders": "tagA"}, ["a"])
    story.owns(story.scenario, "a", "orders", [0])
    story.send("orders", "tagA", 1, 0, 0)
    reset(story, 1)
    story.ended(1)
    assert story.holds() == [Holds.UNKNOWN]
    assert story.classes() == [MessageClass.UNDETERMINED]


@pytest.mark.parametrize(
    ("to", "queue_id", "past"),
    [("end", 0, True), ("1", 0, True), ("end", 1, False), ("0", 0, False), ("begin", 0, False)],
)
def test_what_a_member_sought_past_is_not_lost(to: str, queue_id: int, past: bool) -> None:
    story = Story("undelivered: {count: 1, because: lost}")
    story.start(story.scenario, "a")
    story.stored("g", {"orders": "tagA"}, ["a"])
    story.owns(story.scenario, "a", "orders", [0])
    story.send("orders", "tagA", 1, 0, 0)
    story.add("a", "sought", topic="orders", to=to, queues=[{"broker": BROKER, "queue_id": queue_id}])
    story.ended(1)
    (fate,) = fates(RunView(story.scenario, story.events), story.events[-1].n)
    assert ("a step set the offset past it" in fate.reason) is past


@pytest.mark.parametrize(
    ("kind", "data", "found"),
    [
        (
            "asked",
            {"name": "r", "of": "broker-a", "request": 222, "code": 0, "status": "0"},
            MessageClass.UNDETERMINED,
        ),
        (
            "asked",
            {"name": "r", "of": "broker-a", "request": 203, "code": 0, "status": "0"},
            MessageClass.LOST,
        ),
        ("mqadmin-ran", {"command": ["skipAccumulatedMessage", "-g", "<g>"]}, MessageClass.UNDETERMINED),
        ("mqadmin-ran", {"command": ["skipAccumulatedMessage", "-g", "<h>"]}, MessageClass.LOST),
        ("mqadmin-ran", {"command": ["consumerProgress", "-g", "<g>"]}, MessageClass.LOST),
    ],
    ids=["reset", "connections", "skip", "skip-of-another-group", "progress"],
)
def test_what_a_tool_may_have_skipped_is_not_lost(
    kind: str, data: dict[str, Any], found: MessageClass
) -> None:
    story = Story("undelivered: {count: 1, because: lost}")
    story.start(story.scenario, "a")
    story.stored("g", {"orders": "tagA"}, ["a"])
    story.owns(story.scenario, "a", "orders", [0])
    story.send("orders", "tagA", 1, 0, 0)
    more = {} if kind == "asked" else {"name": "r", "exit_code": 0, "output": "", "seconds": 1.0}
    story.step(1, kind)
    # A look may see the new offset before the tool has ended.
    story.offsets("g", "orders", [(1, 1)])
    story.add("harness", kind, **data, **more)
    story.ended(1)
    assert story.classes() == [found]


@pytest.mark.parametrize(
    ("kind", "node", "data"),
    [
        ("consumer-started", "a", {"client_id": "a@t", "group": "g"}),
        ("subscribed", "a", {"topic": "orders", "expression": "tagA"}),
        ("fault-effective", "harness", {"fault": "kill", "target": "b", "proof": ""}),
        ("fault-healed", "harness", {"fault": "restart", "target": "broker-a", "proof": ""}),
    ],
)
def test_what_happens_to_the_group_begins_the_wait_anew(kind: str, node: str, data: dict[str, Any]) -> None:
    checks = "delivered: {to: g, count: 0}", "undelivered: {count: 1, because: in-flight}"
    for after_s, holds in ((8.0, Holds.UNKNOWN), (15.0, Holds.YES)):
        story = Story(*checks)
        for name in "ab":
            story.start(story.scenario, name)
        story.at(1.0).send("orders", "tagA", 1, 0, 0)
        story.at(7.9).add(node, kind, **data)
        story.at(after_s).ended(0)
        assert story.holds() == [holds, holds]


def test_where_a_node_is_away_more_may_come() -> None:
    story = Story("delivered: {to: g, count: 0}")
    story.start(story.scenario, "a")
    story.at(1.0).send("orders", "tagA", 1, 0, 0)
    story.add("harness", "fault-effective", fault="kill", target=BROKER, proof="")
    story.at(60.0).ended(0)
    assert story.holds() == [Holds.UNKNOWN]
    back = Story("delivered: {to: g, count: 0}")
    back.start(back.scenario, "a")
    back.at(1.0).send("orders", "tagA", 1, 0, 0)
    back.add("harness", "fault-effective", fault="kill", target=BROKER, proof="")
    back.add(BROKER, "node-ready", role="broker", address="127.0.0.1:1", pid=7)
    back.at(60.0).ended(0)
    assert back.holds() == [Holds.YES]


def test_while_something_is_wrong_with_the_network_more_may_come() -> None:
    cut = {"fault": "partition", "target": f"a and {BROKER}", "sides": ["a", BROKER], "proof": ""}
    for healed_s, holds in ((None, Holds.UNKNOWN), (50.0, Holds.YES), (59.0, Holds.UNKNOWN)):
        story = Story("delivered: {to: g, count: 0}")
        story.start(story.scenario, "a")
        story.at(1.0).send("orders", "tagA", 1, 0, 0)
        story.add("harness", "fault-effective", **cut)
        if healed_s is not None:
            story.at(healed_s).add("harness", "fault-healed", **cut)
        story.at(60.0).ended(0)
        assert story.holds() == [holds]


def test_a_dead_orderly_consumer_s_queues_stay_locked() -> None:
    orderly = BOTH.replace("tagA}}", "tagA}, listener: orderly}")
    for after_s, holds in ((50.0, Holds.UNKNOWN), (80.0, Holds.UNKNOWN), (90.0, Holds.YES)):
        story = Story("delivered: {to: b, count: 0}", consumers=orderly)
        story.start(story.scenario, "a")
        story.start(story.scenario, "b")
        story.at(1.0).send("orders", "tagA", 1, 0, 0)
        story.at(2.0).add("harness", "fault-effective", fault="kill", target="a", proof="")
        story.at(after_s).ended(0, owner="b")
        assert story.holds() == [holds]


def test_an_orderly_consumer_asks_for_the_locks_of_its_queues_every_twenty_seconds() -> None:
    orderly = BOTH.replace("tagA}}", "tagA}, listener: orderly}")
    for after_s, holds in ((40.0, Holds.UNKNOWN), (50.0, Holds.YES)):
        story = Story("delivered: {to: a, count: 0}", consumers=orderly)
        story.at(1.0).start(story.scenario, "a")
        story.at(2.0).send("orders", "tagA", 1, 0, 0)
        story.at(after_s).ended(0)
        assert story.holds() == [holds]


@pytest.mark.parametrize(
    ("fault", "target"), [("restart", BROKER), ("pause", BROKER), ("restart", "nameserver")]
)
def test_a_pull_that_a_broker_took_along_is_given_up_after_thirty_seconds(fault: str, target: str) -> None:
    late = Holds.UNKNOWN if target == BROKER else Holds.YES
    for after_s, holds in ((30.0, late), (40.0, Holds.YES)):
        story = Story("delivered: {to: a, count: 0}")
        story.start(story.scenario, "a")
        story.at(1.0).add("harness", "fault-effective", fault=fault, target=target, proof="")
        story.add("harness", "fault-healed", fault=fault, target=target, proof="")
        story.at(2.0).send("orders", "tagA", 1, 0, 0)
        story.at(after_s).ended(0)
        assert story.holds() == [holds]


def test_what_failed_elsewhere_may_come_here() -> None:
    story = Story(
        "delivered: {to: b, count: 0}", consumers=BOTH.replace("tagA}}", "tagA}, behaviour: {fail: 1}}")
    )
    story.start(story.scenario, "a")
    story.start(story.scenario, "b")
    story.send("orders", "tagA", 1, 0, 0)
    story.got("a", 1, "RECONSUME_LATER")
    story.at(60.0).ended(1)
    assert story.holds() == [Holds.UNKNOWN]


def test_one_dead_letter_is_not_two() -> None:
    failing = BOTH.replace("tagA}}", "tagA}, max_reconsume_times: 0, behaviour: {fail: 9}}")
    story = Story("undelivered: {count: 2, because: dead-letter}", consumers=failing)
    story.start(story.scenario, "a")
    for number in (1, 2):
        story.send("orders", "tagA", number, 0, number - 1)
        story.got("a", number, "RECONSUME_LATER")
    story.add("harness", "dead-letters-observed", group="g", count=1, moment="end")
    story.ended(2, sent=2)
    assert story.holds() == [Holds.UNKNOWN]
    assert story.classes() == [MessageClass.IN_RETRY] * 2


def test_who_got_it_last_and_failed_decides() -> None:
    """a dies with the message in its hands; b gets it again, and fails."""
    story = Story("undelivered: {count: 1, because: in-retry}")
    story.start(story.scenario, "a")
    story.send("orders", "tagA", 1, 0, 0)
    story.got("a", 1)
    story.add("harness", "fault-effective", fault="kill", target="a", proof="")
    story.start(story.scenario, "b")
    story.got("b", 1, "RECONSUME_LATER")
    story.ended(1, owner="b")
    assert story.classes() == [MessageClass.IN_RETRY]


def test_a_pull_may_be_older_than_several_subscriptions() -> None:
    story = Story("undelivered: {count: 1, because: lost}")
    story.start(story.scenario, "a")
    for expression in ("tagB", "tagA || tagB"):
        story.add("a", "subscribed", topic="orders", expression=expression)
    story.stored("g", {"orders": "tagA"}, ["a"])
    story.owns(story.scenario, "a", "orders", [0])
    story.send("orders", "tagA", 1, 0, 0)
    story.offsets("g", "orders", [(1, 1)])
    story.ended(1)
    assert story.classes() == [MessageClass.UNDETERMINED]


def test_queues_of_a_member_without_any_say_nothing() -> None:
    story = Story("offsets: {group: g, topic: orders, lag: 0, queues_of: b}")
    story.start(story.scenario, "b")
    story.owns(story.scenario, "b", "orders", [])
    story.ended(0, owner="b")
    story.events = [
        event
        for event in story.events
        if event.data.get("queues") != [{"topic": "orders", "broker": BROKER, "queue_id": 0}]
    ]
    assert story.holds() == [Holds.UNKNOWN]


def test_a_queue_is_meant_on_every_broker() -> None:
    two = "cluster: {brokers: [broker-a, broker-b]}\n"
    story = Story("ownership: {of: a, topic: orders, queues: [0]}", top=two)
    story.start(story.scenario, "a")
    story.ended(0)
    assert story.holds() == [Holds.NO]


def test_nobody_who_subscribes_is_no_division() -> None:
    elsewhere = BOTH.replace("orders: tagA", "bills: tagA")
    story = Story("ownership: {group: g, topic: orders}", consumers=elsewhere)
    story.start(story.scenario, "a")
    story.ended(0)
    assert story.holds() == [Holds.UNKNOWN]


def test_what_waits_for_good_counts_whatever_is_not_known_of_others() -> None:
    checks = [
        f"undelivered: {{because: stranded, {number}}}" for number in ("at_least: 1", "count: 0", "count: 1")
    ]
    story = Story(*checks)
    story.start(story.scenario, "a")
    story.stored("g", {"orders": "tagA"}, ["a"])
    story.send("orders", "tagA", 1, 0, 0)
    story.send("orders", "tagA", 2, 0, 1)
    # Another expression than before its sending: of what the offset passed it isn't known who took it.
    story.stored("g", {"orders": "tagB"}, ["a"])
    story.offsets("g", "orders", [(1, 2)])
    story.owns(story.scenario, "a", "orders", [])
    early = story.holds_at_the_end()
    assert early == [Holds.UNKNOWN] * 3
    story.at(100)
    assert story.holds_at_the_end() == [Holds.YES, Holds.NO, Holds.UNKNOWN]
    assert story.classes() == [MessageClass.UNDETERMINED, MessageClass.STRANDED]


def test_a_message_that_a_broadcasting_member_may_still_get_is_not_undelivered_yet() -> None:
    story = Story(
        "undelivered: {count: 0}", consumers=BOTH.replace("subscribe", "model: broadcasting, subscribe")
    )
    for name in ("a", "b"):
        story.at(1.0).start(story.scenario, name)
    story.at(3.0).send("orders", "tagA", 1, 0, 0)
    story.ended(0)
    assert story.holds()[0] is Holds.UNKNOWN
