"""From a finding to a scenario: it is valid, it states what must be seen, and its control takes the cause away."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.diagnose.checks import CHECKS
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.reproduction import NOT_WRITTEN, SHOWN_BY, WRITERS, why_not, written
from rocketchaos.harness.nightly.document import text_of
from rocketchaos.harness.plan.library import shipped
from rocketchaos.harness.scenario import load_scenario, parse_scenario
from tests.unit.diagnose.broker_edits import offset, retry_topic
from tests.unit.diagnose.member_edits import ALIKE, FIRST, client_property, tries, wants
from tests.unit.diagnose.planted import PLANTED
from tests.unit.diagnose.reports import RECORDED, by_look, diagnosed, each

NO_SCOPE: Mapping[str, Any] = MappingProxyType({})


def reproduced(
    code: str, *changes: Any, looks: int = 1, marked: bool = False, scope: Mapping[str, Any] = NO_SCOPE
) -> tuple[Any, Any]:
    report = diagnosed("mismatch-4.9.4.json", *changes, looks=looks, **scope)
    finding = next(
        item for item in report.findings if item.check.code == code and ("%" in item.topic) is marked
    )
    documents = written(report.views[finding.group], finding)
    assert not isinstance(documents, str), documents
    for document in documents:
        parse_scenario(text_of(document), "written.scenario.yaml")
    return documents


def test_different_tags_lose_as_much_as_the_allocation_says() -> None:
    scenario, control = reproduced("RC0101")
    # Of tagA and tagB in each of 4 queues, the holder gets its own tag in its own two queues.
    assert scenario["anomaly"] == [{"undelivered": {"group": "g", "topic": "t1", "at_least": 6}}]
    assert [item["subscribe"] for item in scenario["consumers"].values()] == [{"t1": "tagA"}, {"t1": "tagB"}]
    assert scenario["control"] == control["name"]
    assert {item["subscribe"]["t1"] for item in control["consumers"].values()} == {"tagA || tagB"}


def test_a_broker_lets_a_tag_with_the_same_hash_pass() -> None:
    scenario, _ = reproduced("RC0101", wants("Aa", "BB"))
    # Whoever is the holder, each owner gets its own tag.
    assert scenario["anomaly"] == [{"undelivered": {"group": "g", "topic": "t1", "at_least": 4}}]


def test_a_tag_beside_everything_loses_messages_with_other_tags() -> None:
    scenario, control = reproduced("RC0101", wants("*", "tagA"))
    send = next(step["send"] for step in scenario["steps"] if "send" in step)
    assert send["tags"] == ["tagA", "tagOther"]
    # Whoever's subscription is stored, tagOther is lost in the two queues of the member that wants tagA.
    assert scenario["anomaly"] == [{"undelivered": {"group": "g", "topic": "t1", "at_least": 2}}]
    assert {item["subscribe"]["t1"] for item in control["consumers"].values()} == {"tagA || tagOther"}


def one_wants_another_topic(exchanges: Any) -> Any:
    """One of the two members also subscribes to a second topic."""

    def more(document: Any) -> None:
        own = next(item for item in document["subscriptionSet"] if "%" not in item["topic"])
        document["subscriptionSet"].append({**own, "topic": "topic-2", "subString": "*"})

    for item in exchanges:
        if item.code == 307 and item.fields["clientId"] == FIRST:
            document = item.document
            more(document)
            yield replace(item, body=json.dumps(document))
        else:
            yield item
        if item.code in (105, 202) and item.fields.get("topic") == "topic-1":
            yield replace(item, fields={"topic": "topic-2"}, body=item.body.replace("topic-1", "topic-2"))


def test_members_that_also_want_different_topics_are_written_with_the_finding_s_topic_alone() -> None:
    scenario, control = reproduced("RC0101", one_wants_another_topic)
    assert list(scenario["topics"]) == list(control["topics"]) == ["t1"]
    assert [item["subscribe"] for item in scenario["consumers"].values()] == [{"t1": "tagA"}, {"t1": "tagB"}]


def test_two_listeners_that_want_different_messages_are_left_to_rc0101() -> None:
    one_orderly = iter(["true", "false"])

    def change(document: Any) -> None:
        document["properties"]["PROP_CONSUMEORDERLY"] = next(one_orderly)

    report = diagnosed("mismatch-4.9.4.json", (307, change))
    (finding,) = [item for item in report.findings if item.check.code == "RC0212"]
    assert "RC0101 has the scenario" in str(written(report.views[finding.group], finding))


def test_different_strategies_are_counted_by_recomputing_them() -> None:
    strategies = iter(["AllocateMessageQueueAveragely", "AllocateMessageQueueAveragelyByCircle"])

    def change(document: Any) -> None:
        document["properties"]["allocateMessageQueueStrategy"] = f"x.{next(strategies)}@1"
        for item in document["subscriptionSet"]:
            item["subString"] = "*"

    scenario, control = reproduced("RC0207", (307, change))
    assert scenario["anomaly"] == [
        {"duplicated": {"to": "g", "topic": "t1", "count": 2}},
        {"undelivered": {"group": "g", "topic": "t1", "count": 2, "because": "stranded"}},
    ]
    assert "strategy" not in str(control["consumers"])


def test_whether_an_orderly_member_waits_is_judged_before_its_owner_loses_the_lock() -> None:
    """A client of 5.5.0 gave it up after 20 s, while its listener still held the message."""
    planted = planted_at("RC0212")
    _, control = reproduced("RC0212", ALIKE, *planted.changes)
    assert control["healthy"] == [{"delivered": {"to": "m1", "topic": "t1", "count": 0, "so_far": True}}]
    assert {"wait": {"duration": "7s", "because": "the test is that m1 gets nothing meanwhile"}} in control[
        "steps"
    ]


def planted_at(code: str) -> Any:
    (planted,) = [item for item in PLANTED if item.code == code]
    return planted


WRITTEN = {
    "RC0107": ("settle", {"undelivered": {"count": 8}}),
    "RC0102": ("heartbeat", {"undelivered": {"count": 4, "because": "filtered-by-broker"}}),
    "RC0201": ("wait", {"undelivered": {"count": 2}, "duplicated": {"at_least": 1}}),
    "RC0206": ("settle", {"delivered": {"to": "m2", "count": 8}}),
    "RC0211": ("wait", {"duplicated": {"to": "g", "at_least": 1}}),
    "RC0212": ("settle", {"delivered": {"to": "m1", "at_least": 1}}),
    "RC0303": ("settle", {"ownership": {"of": "m5", "count": 0}}),
    "RC0403": ("send", {"undelivered": {"count": 4, "because": "stranded"}}),
    "RC0404": ("topic-config", {"undelivered": {"count": 8}}),
    "RC0406": ("send", {"undelivered": {"count": 8}}),
    "RC0407": ("broker-config", {"undelivered": {"count": 4}}),
    "RC0408": ("topic-config", {"undelivered": {"count": 8}}),
    "RC0503": ("reset-offset", {"duplicated": {"count": 8}}),
    "RC0505": ("expire-files", {"undelivered": {"at_least": 1}}),
    "RC0509": ("reset-offset", {"undelivered": {"count": 8}}),
    "RC0506": ("reset-offset", {"undelivered": {"count": 8}}),
    "RC0601": ("settle", {"offsets": {"lag": 4}}),
    "RC0701": ("settle", {"retry": {"count": 4}}),
    "RC0702": ("settle", {"dead-letter": {"count": 4}}),
    "RC0703": ("settle", {"dead-letter": {"count": 4}}),
    "RC0704": ("settle", {"undelivered": {"count": 4, "because": "lost"}}),
    "RC0705": ("group-config", {"retry": {"at_most": 39}}),
}
"""By code: a step of its scenario, and what must be seen, in part."""


@pytest.mark.parametrize("code", WRITTEN)
def test_a_planted_malady_is_written_with_what_must_be_seen(code: str) -> None:
    planted = planted_at(code)
    scenario, control = reproduced(
        code, ALIKE, *planted.changes, looks=planted.looks, scope=dict(planted.scope)
    )
    step, seen = WRITTEN[code]
    assert step in {word for item in scenario["steps"] for word in item}
    for word, expected in seen.items():
        stated = [item[word] for item in scenario["anomaly"] if word in item]
        assert any(expected.items() <= item.items() for item in stated), stated
    assert scenario["healthy"] == control["healthy"]
    assert control["expected"] == "not-reproduced"
    assert not {"heartbeat", "reset-offset", "topic-config", "broker-config"} & {
        word for item in control["steps"] for word in item
    }
    assert "groups" not in control


@pytest.mark.parametrize(("expression", "sent"), [(" * ", "tagA"), ("tagA || *", "tagB")])
def test_a_star_that_is_a_tag_is_meant_as_all(expression: str, sent: str) -> None:
    scenario, control = reproduced("RC0107", wants(expression))
    (step,) = [item["send"] for item in scenario["steps"] if "send" in item]
    assert sent in (step.get("tag"), step.get("tags"))
    assert {consumer["subscribe"]["t1"] for consumer in control["consumers"].values()} == {"*"}


def test_members_that_are_given_their_queues_are_given_the_same_again() -> None:
    by_config = (
        307,
        lambda document: document["properties"].update(
            allocateMessageQueueStrategy="x.AllocateMessageQueueByConfig@1"
        ),
    )
    planted = planted_at("RC0301")
    scenario, control = reproduced("RC0301", ALIKE, *planted.changes, by_config, looks=planted.looks)
    assert [(item["strategy"], item["queues"]) for item in scenario["consumers"].values()] == [
        ("by-config", [0, 1]),
        ("by-config", [2]),
    ]
    assert scenario["anomaly"] == [
        {"undelivered": {"group": "g", "topic": "t1", "count": 2, "because": "stranded"}}
    ]
    assert "queues" not in str(control["consumers"])


def test_shares_by_consistent_hash_are_not_foretold() -> None:
    hashing = (
        307,
        lambda document: document["properties"].update(
            allocateMessageQueueStrategy="x.AllocateMessageQueueConsistentHash@1"
        ),
    )
    report = diagnosed("mismatch-4.9.4.json", hashing)
    (finding,) = [item for item in report.findings if item.check.code == "RC0101"]
    assert "ConsistentHash" in str(written(report.views[finding.group], finding))


def test_an_expression_is_written_with_the_tags_that_a_person_reads_in_it() -> None:
    scenario, control = reproduced("RC0107", wants("tagA,tagB || tagC"))
    assert [item["send"]["tags"] for item in scenario["steps"] if "send" in item] == [["tagA", "tagB"]]
    assert {item["subscribe"]["t1"] for item in scenario["consumers"].values()} == {"tagA,tagB || tagC"}
    assert {item["subscribe"]["t1"] for item in control["consumers"].values()} == {"tagA || tagB || tagC"}


def test_members_of_several_ways_connect_as_the_live_ones_do() -> None:
    planted = planted_at("RC0211")
    scenario, control = reproduced("RC0211", ALIKE, *planted.changes, looks=2, scope=dict(planted.scope))
    assert scenario["cluster"] == {"proxy": "cluster"}
    assert [item.get("through") for item in scenario["consumers"].values()] == [None, "proxy"]
    assert "through" not in str(control["consumers"])


@pytest.mark.parametrize(
    ("permission", "seen"),
    [(2, {"undelivered": {"count": 4, "because": "in-retry"}}), (4, {"log": {"at_least": 1}})],
)
def test_a_closed_retry_topic_is_written_with_a_listener_that_fails(
    permission: int, seen: Mapping[str, Any]
) -> None:
    scenario, control = reproduced("RC0404", ALIKE, retry_topic(permission), marked=True)
    assert {"topic-config": {"retry_of": "g", "set": {"perm": permission}}} in scenario["steps"]
    for word, expected in seen.items():
        assert all(expected.items() <= item[word].items() for item in scenario["anomaly"])
    assert "topic-config" not in str(control["steps"])
    assert control["steps"][-1] == {"settle": {"retried": "g", "count": 4, "within": "60s"}}
    assert all(item["behaviour"] == {"fail": 1} for item in control["consumers"].values())


@pytest.mark.parametrize("code", CHECKS)
def test_every_code_writes_a_scenario_or_says_in_one_line_why_not(code: str) -> None:
    assert (code in WRITERS) != (code in NOT_WRITTEN)
    planted = planted_at(code)
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *planted.changes, looks=planted.looks, **planted.scope)
    found = [item for item in report.findings if item.check.code == code]
    view = report.views.get(found[0].group) if found else None
    result = why_not(code) if view is None else written(view, found[0])
    if isinstance(result, str):
        assert 10 < len(NOT_WRITTEN.get(code, result)) < 120
        assert "\n" not in result
    else:
        assert code in WRITERS
        assert result[0]["anomaly"]
        assert result[0]["control"] == result[1]["name"]
        assert [parse_scenario(text_of(item), "x.scenario.yaml").expected for item in result]


def test_a_code_without_a_scenario_names_a_shipped_one_that_shows_it() -> None:
    assert set(SHOWN_BY) <= set(NOT_WRITTEN)
    assert set(SHOWN_BY.values()) <= set(shipped())
    assert "`rocketchaos reproduce lag-of-tags-that-nobody-wants` shows such a state" in why_not("RC0507")
    assert "reproduce" not in why_not("RC0204")
    # A producer that runs, and answers UNKNOW, leaves transactions undecided too.
    assert "`kill: producer` if none is connected" in why_not("RC0813")


def test_the_command_writes_both_files(tmp_path: Path) -> None:
    recorded = str(RECORDED / "mismatch-5.5.0.json")
    assert main(["diagnose", recorded, "--write-scenario", str(tmp_path)]) == 1
    assert {load_scenario(path).name for path in tmp_path.iterdir()} == {
        "diagnosed-rc0101",
        "diagnosed-rc0101-control",
    }


@pytest.mark.parametrize("broken", [0, 1])
def test_an_invalid_scenario_is_said_and_changes_no_exit_code(
    broken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def with_a_mistake(view: Any, finding: Any) -> Any:
        documents = written(view, finding)
        assert not isinstance(documents, str)
        return tuple(
            {**item, "consumers": {}, "unknown": 1} if number == broken else item
            for number, item in enumerate(documents)
        )

    monkeypatch.setattr("rocketchaos.harness.cli.diagnosed_scenarios.written", with_a_mistake)
    assert main(["diagnose", str(RECORDED / "mismatch-5.5.0.json"), "--write-scenario", str(tmp_path)]) == 1
    shown = capsys.readouterr()
    assert "RC0101" in shown.out
    (line,) = [item for item in shown.err.splitlines() if item.startswith("no scenario of RC0101")]
    assert "would be invalid: " in line
    assert "unknown" in shown.err
    assert not list(tmp_path.iterdir())


def test_nothing_is_sent_to_named_queues_where_a_topic_may_not_be_written() -> None:
    def closed(document: Any) -> None:
        for item in document["queueDatas"]:
            item["perm"] = 4

    def only_the_topic(exchange: Exchange) -> Exchange:
        if exchange.code != 105 or "%" in exchange.fields["topic"]:
            return exchange
        document = exchange.document
        closed(document)
        return replace(exchange, body=json.dumps(document))

    report = diagnosed("mismatch-4.9.4.json", ALIKE, each(only_the_topic))
    (finding,) = report.findings
    documents = written(report.views[finding.group], finding)
    assert not isinstance(documents, str)
    scenario, control = documents
    (sent,) = [step["send"] for step in scenario["steps"] if "send" in step]
    assert "per_queue" not in sent
    assert sent["may_fail"] is True
    assert [topic.get("settings") for topic in scenario["topics"].values()] == [{"perm": 4}]
    assert not any("settings" in topic for topic in control["topics"].values())


def test_members_that_broadcast_lose_what_the_stored_subscription_drops() -> None:
    def broadcasting(document: Any) -> None:
        document["properties"]["messageModel"] = "BROADCASTING"

    scenario, control = reproduced("RC0101", (307, broadcasting))
    # Of tagA and tagB in each of 4 queues, all of one tag.
    assert scenario["anomaly"] == [{"undelivered": {"group": "g", "topic": "t1", "at_least": 4}}]
    assert {item["model"] for item in control["consumers"].values()} == {"broadcasting"}


def test_members_that_broadcast_all_and_a_tag_lose_messages_once_the_tag_is_stored() -> None:
    model = client_property("messageModel", "BROADCASTING")
    scenario, control = reproduced("RC0101", model, wants("*", "tagA"))
    (again,) = [step["subscribe"] for step in scenario["steps"] if "subscribe" in step]
    assert again == {"consumer": "m2", "topic": "t1", "expression": "tagA"}
    assert scenario["anomaly"] == [{"undelivered": {"group": "g", "topic": "t1", "at_least": 4}}]
    assert not any("subscribe" in step for step in control["steps"])


def test_an_orderly_listener_that_keeps_failing_is_named_and_fails_again() -> None:
    def failing(document: Any, _look: int) -> None:
        document["properties"]["PROP_CONSUMEORDERLY"] = "true"
        for held in document["mqTable"].values():
            held["locked"] = True
        for status in document["statusTable"].values():
            status["consumeFailedTPS"] = 1.5

    report = diagnosed(
        "mismatch-4.9.4.json",
        ALIKE,
        *offset(lambda _look: 1),
        tries(2_000, 2),
        by_look(307, failing),
        looks=17,
    )
    (finding,) = [item for item in report.findings if item.check.code == "RC0501"]
    assert "; the orderly listener of " in finding.sentence
    assert any("holds 2 messages, consumeFailedTPS 1.5" in item.says for item in finding.evidence)
    scenario, control = written(report.views[finding.group], finding)
    assert {item["listener"] for item in scenario["consumers"].values()} == {"orderly"}
    assert {item["behaviour"]["fail"] for item in scenario["consumers"].values()} == {1000}
    assert not any("behaviour" in item for item in control["consumers"].values())


def test_the_queues_of_a_paused_member_wait_and_what_hangs_has_no_scenario_of_it() -> None:
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *offset(lambda _look: 1), tries(2_000, 0), looks=17)
    (finding,) = report.findings
    made = written(report.views[finding.group], finding)
    assert not isinstance(made, str)
    # What was sent before may come by a pull that a broker holds at that moment.
    later = {"group": "g", "topic": "t1", "count": 4, "sent_after": "suspended"}
    assert made[0]["anomaly"] == [{"undelivered": later}]
    assert {"suspend-consumer": "m1"} in made[0]["steps"]
    assert {"suspend-consumer": "m1"} not in made[1]["steps"]
    for document in made:
        parse_scenario(text_of(document), "written.scenario.yaml")
    hanging = replace(finding, level=Level.ERROR)
    assert isinstance(written(report.views[finding.group], hanging), str)


def test_the_group_that_a_broker_lacks_is_there_at_first_and_stays_in_the_control() -> None:
    planted = planted_at("RC0402")
    scenario, control = reproduced("RC0402", ALIKE, *planted.changes)
    assert {"delete-group": "g"} in scenario["steps"]
    assert scenario["anomaly"] == [{"undelivered": {"group": "g", "topic": "t1", "count": 8}}]
    assert {"delete-group": "g"} not in control["steps"]
    # Declared, it is created before the first step.
    assert scenario["groups"] == {"g": {}}
    assert control["groups"] == scenario["groups"]
