"""Settings of topics and groups: what they come to."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from rocketchaos.assertions.view import RunView
from rocketchaos.harness.language.topic import Group, Topic, attributes_of, evenly
from rocketchaos.harness.scenario import parse_scenario
from tests.unit.history_builder import HistoryBuilder, scenario_of
from tests.unit.scenario.examples import scenario_text


def test_queues_are_read_and_written_alike_by_default() -> None:
    topic = Topic(queues=4)
    assert (topic.read_queues, topic.write_queues, topic.all_queues) == (4, 4, 4)
    fewer = Topic(queues=4, settings={"readQueueNums": 2, "writeQueueNums": 8})
    assert (fewer.read_queues, fewer.write_queues, fewer.all_queues) == (2, 8, 8)
    assert fewer.changed({"readQueueNums": 8}).read_queues == 8
    assert evenly(2) == {"readQueueNums": 2, "writeQueueNums": 2}


def test_a_topic_has_as_many_queues_as_rocketmqs_own_benchmark() -> None:
    assert Topic(queues=1024).write_queues == 1024
    with pytest.raises(ValidationError, match="less than or equal to 1024"):
        Topic(queues=1025)


def test_what_nobody_may_read_has_no_queues_to_share_out() -> None:
    assert [Topic(settings={"perm": perm}).read_queues for perm in (2, 4, 6, 0)] == [0, 4, 4, 0]


def test_a_group_s_own_topics_are_created_where_they_have_settings() -> None:
    assert list(Group().topics) == []
    assert list(Group(dead_letter_topic={"perm": 6}).topics) == [("%DLQ%", {"perm": 6})]
    assert attributes_of({"perm": 6, "message.type": "FIFO"}) == {"message.type": "FIFO"}


def test_groups_are_a_list_or_a_mapping() -> None:
    text = scenario_text("start: [a, b, c]")
    for groups in ("[x]", "x", "{x: {settings: {consumeEnable: false}}}"):
        scenario = parse_scenario(f"{text}groups: {groups}\n", "x.yaml")
        assert scenario.groups == ("g", "h", "x")
    assert scenario.bare_groups["x"].settings == {"consumeEnable": False}


def test_a_version_without_attributes_or_a_setting_is_left_out() -> None:
    text = scenario_text("start: [a, b, c]")
    typed = parse_scenario(text.replace("queues: 4", "queues: 4, settings: {message.type: FIFO}"), "x.yaml")
    assert "`message.type`" in str(typed.why_not_on("4.9.4"))
    assert typed.why_not_on("5.5.0") is None
    ordered = parse_scenario(
        f"{text}groups: {{x: {{settings: {{consumeMessageOrderly: true}}}}}}\n", "x.yaml"
    )
    assert "`consumeMessageOrderly`" in str(ordered.why_not_on("4.9.4"))


def test_members_share_out_the_queues_that_are_read() -> None:
    text = scenario_text("start: a").replace("queues: 4", "queues: 4, settings: {readQueueNums: 2}")
    scenario = scenario_of(text)
    made = HistoryBuilder().begin(scenario)
    seen = [("broker-a", n) for n in range(4)]
    view = RunView(scenario, made.events)
    before = made.events[-1].n
    assert view.pulled_queues("orders", before, seen) == seen[:2]
    made.add(
        "harness", "topic-configured", topic="orders", settings={"readQueueNums": 3}, brokers=["broker-a"]
    )
    view = RunView(scenario, made.events)
    assert view.pulled_queues("orders", made.events[-1].n, seen) == seen[:3]
    assert view.pulled_queues("orders", before, seen) == seen[:2]
    plain = scenario_of(scenario_text("start: a"))
    assert RunView(plain, HistoryBuilder().begin(plain).events).pulled_queues("orders", 1, seen) == seen
