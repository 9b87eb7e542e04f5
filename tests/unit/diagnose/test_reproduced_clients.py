"""From a finding to a scenario: its clients are those of the live group, or stand for them."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import pytest

from rocketchaos.harness.diagnose.reproduction import written
from tests.unit.diagnose.broker_edits import no_topic, retry_topic
from tests.unit.diagnose.member_edits import ALIKE, is_other, languages, popping_members, wants
from tests.unit.diagnose.reports import diagnosed, members
from tests.unit.diagnose.test_reproduction import planted_at, reproduced


def test_members_are_written_with_clients_of_their_kind_and_version() -> None:
    """Go 2.1.2 reports v2.1.1; the ids of Go clients begin with an address here, and sort before names."""

    def versions(document: Any) -> None:
        is_first = any(item["subString"] == "tagA" for item in document["subscriptionSet"])
        document["properties"]["PROP_CLIENT_VERSION"] = "V4_9_4" if is_first else "v2.1.1"

    scenario, control = reproduced("RC0101", (307, versions), languages("JAVA", "GO"))
    for document in (scenario, control):
        assert [item.get("client") for item in document["consumers"].values()] == ["go", None]
    assert [item["subscribe"]["t1"] for item in scenario["consumers"].values()] == ["tagB", "tagA"]


@pytest.mark.parametrize(
    ("reported", "client"), [("v2.0.0", "go@2.0.0"), ("v2.1.0", "go@2.1.1"), ("v9.9.9", "go")]
)
def test_a_go_client_has_the_version_that_reports_itself_so(reported: str, client: str) -> None:
    told = (307, lambda document: document["properties"].update(PROP_CLIENT_VERSION=reported))
    scenario, _ = reproduced("RC0101", told, languages("GO", "GO"))
    assert {item["client"] for item in scenario["consumers"].values()} == {client}


def test_a_java_client_stands_for_clients_of_languages_that_a_scenario_lacks() -> None:
    scenario, _ = reproduced("RC0101", languages("RUST", "JAVA"))
    assert not [item for item in scenario["consumers"].values() if "client" in item]
    assert scenario["description"].endswith("A Java client stands for each RUST client.")


def test_a_java_client_stands_for_one_that_lacks_a_setting_of_the_scenario() -> None:
    planted = planted_at("RC0702")
    cpp = languages("CPP", "CPP")
    scenario, control = reproduced("RC0702", ALIKE, *planted.changes, cpp, looks=planted.looks)
    for document in (scenario, control):
        assert not [item for item in document["consumers"].values() if "client" in item]
        assert "stands for m1 (python) and m2 (python)" in document["description"]


def test_the_scenario_of_other_topics_has_no_other_tags() -> None:
    """On 5.5.0 the scenario was inconclusive: one of two members dropped the tag that was sent."""
    turn = cycle([*(wants(tag)[1] for tag in ("tagA", "tagB")), no_topic])
    scenario, control = reproduced("RC0106", members(3), (307, lambda document: next(turn)(document)))
    subscribe = [item["subscribe"] for item in scenario["consumers"].values()]
    assert subscribe == [{"t1": "tagA"}, {"t1": "tagA"}, {"elsewhere": "*"}]
    assert len({item["subscribe"]["t1"] for item in control["consumers"].values()}) == 1


def test_what_lite_pull_consumers_lose_is_waited_for_without_their_offsets() -> None:
    lite = (
        307,
        lambda document: document["properties"].update(
            autoCommit="true", PROP_CONSUME_TYPE="CONSUME_ACTIVELY"
        ),
    )
    scenario, control = reproduced("RC0101", lite)
    # Each pull carries its own expression: what each member's queues have of the other's tag is lost.
    assert scenario["anomaly"] == [{"undelivered": {"group": "g", "topic": "t1", "at_least": 4}}]
    assert {item["api"] for item in scenario["consumers"].values()} == {"lite-pull"}
    assert "wait" in scenario["steps"][-1]
    assert control["steps"][-1]["settle"]["lag"] == 0


def test_members_whose_pulls_carry_their_expressions_do_so_again() -> None:
    own = (307, lambda document: document["properties"].update(postSubscriptionWhenPull="true"))
    scenario, _ = reproduced("RC0101", own)
    assert scenario["anomaly"] == [{"undelivered": {"group": "g", "topic": "t1", "at_least": 4}}]
    assert {item["post_subscription_when_pull"] for item in scenario["consumers"].values()} == {True}


def test_a_client_id_of_go_or_cpp_twice_is_not_written() -> None:
    planted = planted_at("RC0201")
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *planted.changes, languages("GO", "GO"))
    (finding,) = [item for item in report.findings if item.check.code == "RC0201"]
    assert "can't be set" in str(written(report.views[finding.group], finding))


def test_a_broker_filters_what_cpp_clients_pull_by_their_own_expressions() -> None:
    scenario, _ = reproduced("RC0101", languages("CPP", "CPP"))
    assert scenario["anomaly"] == [{"undelivered": {"group": "g", "topic": "t1", "at_least": 4}}]


@pytest.mark.parametrize(("first", "written_at_all"), [("GO", False), ("JAVA", True)])
def test_a_scenario_that_waits_for_a_line_of_a_java_client_needs_one(
    first: str, written_at_all: bool
) -> None:
    closed = diagnosed("mismatch-4.9.4.json", ALIKE, retry_topic(4), languages(first, "JAVA"))
    (finding,) = [item for item in closed.findings if item.check.code == "RC0404"]
    assert (not isinstance(written(closed.views[finding.group], finding), str)) is written_at_all
    planted = planted_at("RC0212")
    mixed = diagnosed(
        "mismatch-4.9.4.json", ALIKE, *planted.changes, languages(first, first), looks=planted.looks
    )
    (finding,) = [item for item in mixed.findings if item.check.code == "RC0212"]
    assert (not isinstance(written(mixed.views[finding.group], finding), str)) is written_at_all


@pytest.mark.parametrize(("other", "sent"), [("tagA || tagB", "tagB"), ("*", "tagB")])
def test_what_comes_to_each_side_is_wanted_by_each(other: str, sent: str) -> None:
    scenario, _ = reproduced("RC0214", wants(other, "tagB"), popping_members(1), looks=16)
    assert {step["send"]["tag"] for step in scenario["steps"] if "send" in step} == {sent}


def test_who_pulls_works_longer_than_it_takes_until_a_message_is_popped_as_well() -> None:
    """On 5.5.0 nothing came twice in one of three runs: the listener was quicker than the pop."""
    scenario, _ = reproduced("RC0214", wants("tagB", "tagB"), popping_members(1), looks=16)
    assert [item.get("behaviour") for item in scenario["consumers"].values()].count({"slow": "3s"}) == 1
    assert [item.get("api") for item in scenario["consumers"].values()].count("pop") == 1


def test_sides_that_want_nothing_in_common_get_no_message_twice() -> None:
    """On 5.5.0 the scenario of a gRPC member with tagA beside a Java member with tagB was not reproduced."""
    report = diagnosed("mismatch-4.9.4.json", popping_members(1), looks=16)
    (finding,) = [item for item in report.findings if item.check.code == "RC0214"]
    assert written(report.views[finding.group], finding) == (
        "no tag is wanted by all members, so no message comes to each side"
    )


@pytest.mark.parametrize(
    ("java", "go", "lost"), [("*", "tagA", 4), ("tagA", "*", None)], ids=["Go narrow", "Go wide"]
)
def test_brokers_hold_what_a_go_client_wants(java: str, go: str, lost: int | None) -> None:
    """Measured on 5.5.0: what a Java member sends again, in milliseconds, never replaces Go's nanoseconds."""

    def told(document: Any) -> None:
        by_go = document["properties"]["PROP_CLIENT_VERSION"].startswith("v")
        document["properties"]["messageModel"] = "" if by_go else "BROADCASTING"
        for item in document["subscriptionSet"]:
            if not item["topic"].startswith("%RETRY%"):
                item["subString"] = go if by_go else java

    def versions(document: Any) -> None:
        if is_other(document):
            document["properties"]["PROP_CLIENT_VERSION"] = "v2.1.1"

    report = diagnosed("mismatch-4.9.4.json", languages("JAVA", "GO"), (307, versions), (307, told))
    (finding,) = [item for item in report.findings if item.check.code == "RC0101"]
    documents = written(report.views[finding.group], finding)
    if lost is None:
        assert documents == "if the broker holds the widest subscription, nothing is lost"
        return
    scenario = documents[0]
    assert not isinstance(scenario, str)
    assert scenario["anomaly"] == [{"undelivered": {"group": "g", "topic": "t1", "at_least": lost}}]
    assert not any("subscribe" in step for step in scenario["steps"])
    assert [(item.get("client"), item["model"]) for item in scenario["consumers"].values()] == [
        ("go", "broadcasting"),
        (None, "broadcasting"),
    ]
