"""A POP retry may come to another group, where the names of both meet in one retry topic."""

from __future__ import annotations

import pytest

from rocketchaos.assertions.delivered import Delivered
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds
from tests.unit.history_builder import HistoryBuilder, scenario_of


@pytest.mark.parametrize(
    ("names", "group", "decided"),
    [("as-written", "g_a", Holds.UNKNOWN), ("as-written", "h", Holds.YES), ("of-the-run", "g_a", Holds.YES)],
)
def test_a_pop_retry_may_come_to_another_group_with_the_same_retry_topic(
    names: str, group: str, decided: Holds
) -> None:
    scenario = scenario_of(f"""\
name: two
title: the names of two groups meet
names: {names}
topics: {{a_b: {{queues: 1}}, b: {{queues: 1}}}}
consumers:
  a: {{group: g, api: pop, subscribe: {{a_b: '*'}}, behaviour: {{fail: 1}}}}
  b: {{group: {group}, api: pop, subscribe: {{b: '*'}}}}
steps: [{{start: [a, b]}}]
anomaly: [{{delivered: {{to: b, at_least: 1}}}}]
healthy: [{{delivered: {{to: b, count: 0}}}}]
""")
    made = HistoryBuilder().begin(scenario)
    made.events[0].data["timing"] = "compressed"
    for name in "ab":
        made.start(scenario, name)
        made.stored(scenario.consumers[name].group, {"a_b" if name == "a" else "b": "*"}, [name])
    made.offsets("g", "a_b", [(0, 0)])
    key = made.send("a_b", None, 1, 0, 0)
    received = {"topic": "a_b", "key": key, "tag": None, "broker": "broker-a", "queue_id": 0}
    made.add("a", "received", **received, offset=0, reconsume_times=0)
    made.add("a", "consumed", key=key, status="RECONSUME_LATER")
    made.offsets("g", "a_b", [(1, 1)])
    made.at(8).add("harness", "moment-observed", moment="end")
    answer = Delivered(to="b", count=0).evaluate(RunView(scenario, made.events))
    assert answer.holds is decided
