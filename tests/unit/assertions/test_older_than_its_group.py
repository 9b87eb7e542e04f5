"""The oracle on messages that were sent before a member of the group started."""

from __future__ import annotations

from rocketchaos.assertions.oracle import fates
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import MessageClass
from tests.unit.history_builder import HistoryBuilder, OneMessage, scenario_of

SCENARIO = """\
name: older-than-its-group
title: a group that begins at the end
topics: {orders: {queues: 2}}
consumers:
  a: {group: g, subscribe: {orders: tagB}, consume_from: last-offset}
  b: {group: g, subscribe: {orders: tagB}}
steps: [{start: [a, b]}]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""


class OlderThanItsGroup(OneMessage):
    """A message that was sent before a member of the group started, and whose queue's offset has passed it."""

    def __init__(self, *, another_first: bool) -> None:
        self.scenario = scenario_of(SCENARIO)
        self.made = HistoryBuilder().begin(self.scenario)
        if another_first:
            self.made.start(self.scenario, "b")
        self.sent()
        self.made.start(self.scenario, "a")
        self.made.stored("g", {"orders": "tagB"}, ["a"])
        self.made.offsets("g", "orders", [(1, 1), (0, 0)])


def test_a_message_older_than_its_group_may_be_before_its_beginning() -> None:
    fate = OlderThanItsGroup(another_first=False).fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "begins where its consumer says (a last-offset)" in fate.reason


def test_where_a_member_was_there_before_nothing_is_said_of_a_beginning() -> None:
    fate = OlderThanItsGroup(another_first=True).fate()
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "begins" not in fate.reason


def test_a_group_that_got_an_earlier_message_of_the_queue_did_not_begin_behind_it() -> None:
    scenario = scenario_of(SCENARIO)
    made = HistoryBuilder().begin(scenario)
    earlier, later = (made.send("orders", "tagB", number, 0, number - 1) for number in (1, 2))
    made.start(scenario, "a")
    made.receive("a", "orders", earlier, "tagB", 0, 0)
    made.stored("g", {"orders": "tagB"}, ["a"])
    made.offsets("g", "orders", [(2, 2), (0, 0)])
    fate = next(
        item for item in fates(RunView(scenario, made.events), made.events[-1].n) if item.key == later
    )
    assert fate.message_class is MessageClass.UNDETERMINED
    assert "begins" not in fate.reason
