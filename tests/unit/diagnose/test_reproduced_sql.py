"""Scenarios of members that want SQL92: what they send, what must be lost, and where there is none."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.harness.diagnose.reproduction import written
from tests.unit.diagnose.broker_edits import route_fields
from tests.unit.diagnose.member_edits import ALIKE, wants
from tests.unit.diagnose.reports import diagnosed
from tests.unit.diagnose.test_reproduction import one_wants_another_topic, reproduced


def _by_sql(*expressions: str) -> Any:
    """What each member wants of the topic, in turn; `tag…` is a tag, all else SQL92."""
    turn = iter(expressions)

    def change(document: Any) -> None:
        item = next(item for item in document["subscriptionSet"] if "%" not in item["topic"])
        expression = next(turn)
        item.update(subString=expression, expressionType="TAG" if expression.startswith("tag") else "SQL92")

    return 307, change


def _sent(document: Any) -> list[tuple[Any, Any]]:
    steps = [step["send"] for step in document["steps"] if "send" in step]
    return [(step.get("tags", step.get("tag")), step.get("properties")) for step in steps]


def test_members_with_different_sql_lose_what_the_holder_s_doesn_t_match() -> None:
    scenario, control = reproduced("RC0101", _by_sql("a = 1", "a > 1 AND b = 'x'"))
    wanted = [item["subscribe"]["t1"] for item in scenario["consumers"].values()]
    assert wanted == [{"sql": "a = 1"}, {"sql": "a > 1 AND b = 'x'"}]
    assert scenario["cluster"]["broker"] == {"enablePropertyFilter": True}
    assert _sent(scenario) == [("tagA", {"a": "1", "b": "x"}), ("tagA", {"a": "2", "b": "x"})]
    # Clients with SQL92 take whatever the broker lets pass: one of the two in each of 4 queues.
    assert scenario["anomaly"] == [{"undelivered": {"group": "g", "topic": "t1", "at_least": 4}}]
    assert {item["subscribe"]["t1"]["sql"] for item in control["consumers"].values()} == {
        "(a = 1) OR (a > 1 AND b = 'x')"
    }
    assert "stands for" not in scenario["description"]
    for document in (scenario, control):
        assert "one that wants SQL92 gets whatever passes" in document["description"]


def test_where_one_sql_matches_all_that_another_does_the_narrow_one_is_subscribed_again() -> None:
    scenario, control = reproduced("RC0101", _by_sql("a > 5", "a > 1"))
    (again,) = [step["subscribe"] for step in scenario["steps"] if "subscribe" in step]
    assert again == {"consumer": "m1", "topic": "t1", "expression": {"sql": "a > 5"}}
    assert scenario["anomaly"] == [{"undelivered": {"group": "g", "topic": "t1", "at_least": 4}}]
    assert not [step for step in control["steps"] if "subscribe" in step]


def test_sql_in_the_group_of_a_member_with_tags() -> None:
    scenario, control = reproduced("RC0101", _by_sql("a = 1", "tagA"))
    wanted = [item["subscribe"]["t1"] for item in scenario["consumers"].values()]
    assert wanted == [{"sql": "a = 1"}, "tagA"]
    assert _sent(scenario) == [(["tagA", "tagOther"], {"a": "1"}), ("tagA", {"a": "2"})]
    # With `a = 1` stored m1 gets 2 of 3 kinds and m2 one of them, with tagA each gets 2, in two queues each.
    assert scenario["anomaly"] == [{"undelivered": {"group": "g", "topic": "t1", "at_least": 4}}]
    assert {item["subscribe"]["t1"]["sql"] for item in control["consumers"].values()} == {
        "(a = 1) OR (TAGS IN ('tagA'))"
    }


def test_sql_that_can_t_be_judged_stands_as_sql_that_matches_all_where_others_want_tags() -> None:
    scenario, control = reproduced("RC0101", _by_sql("a = b", "tagA"))
    wanted = [item["subscribe"]["t1"] for item in scenario["consumers"].values()]
    assert wanted == [{"sql": "absent IS NULL"}, "tagA"]
    assert "stands for the group's own expression" in scenario["description"]
    # Whoever's subscription is stored, tagOther is lost in the two queues of the member that wants tagA.
    assert scenario["anomaly"] == [{"undelivered": {"group": "g", "topic": "t1", "at_least": 2}}]
    assert {item["subscribe"]["t1"]["sql"] for item in control["consumers"].values()} == {
        "(absent IS NULL) OR (TAGS IN ('tagA'))"
    }


def test_what_no_scenario_does_is_said() -> None:
    report = diagnosed("mismatch-4.9.4.json", _by_sql("a = b", "b > a"))
    (finding,) = [entry for entry in report.findings if entry.check.code == "RC0101"]
    said = written(report.views[finding.group], finding)
    assert said == "its SQL92 compares with b, whose value is unknown"


@pytest.mark.parametrize(
    ("wanted", "here"),
    [(("tagA", "tagB"), "tagA || tagB"), (("tagA", "a = 1"), "*"), (("a = 1", "b = 2"), "")],
)
def test_members_want_the_same_where_the_scenario_is_about_something_else(
    wanted: tuple[str, str], here: str
) -> None:
    """Messages that were filtered never came: the scenario of RC0403 waited for them, and was inconclusive."""
    unread = route_fields(readQueueNums=4, writeQueueNums=6)
    for document in reproduced("RC0403", _by_sql(*wanted), unread):
        expressions = [item["subscribe"]["t1"] for item in document["consumers"].values()]
        assert expressions[0] == expressions[1]
        assert expressions[0] == here or not here


def test_members_want_the_same_topics_where_the_scenario_is_about_something_else() -> None:
    """It waited for messages in the queues of a member that doesn't want them."""
    unread = route_fields(readQueueNums=4, writeQueueNums=6)
    for document in reproduced("RC0403", ALIKE, one_wants_another_topic, unread):
        first, second = (item["subscribe"] for item in document["consumers"].values())
        assert first == second
        assert len(first) == 2


@pytest.mark.parametrize("right", ["tagA || tagB", "*", "a = 1"])
def test_a_misread_expression_of_one_member_is_left_to_rc0101_where_another_gets_the_tags(right: str) -> None:
    """Its scenario said that no message reaches anybody; the other member gets some, and it was inconclusive."""
    one_is_right = _by_sql("tagA,tagB", right) if "=" in right else wants("tagA,tagB", right)
    report = diagnosed("mismatch-4.9.4.json", one_is_right)
    (finding,) = [item for item in report.findings if item.check.code == "RC0107"]
    assert "RC0101 has the scenario" in str(written(report.views[finding.group], finding))
