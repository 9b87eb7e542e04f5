"""A run of two members, told message by message, for checks about order and time."""

from __future__ import annotations

from typing import Any

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


def failing() -> Story:
    """Message 1 fails twice, and then succeeds: 1 s after the first answer, 3 s after the second."""
    story = Story().sent(1).got("a", 1)
    story.at(1.0).answered("a", 1, "RECONSUME_LATER").at(2.0).got("b", 1, times=1)
    story.answered("b", 1, "RECONSUME_LATER").at(5.0).got("a", 1, times=2)
    return story
