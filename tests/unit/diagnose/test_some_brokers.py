"""What only some of several brokers have, or forbid."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from rocketchaos.harness.diagnose.collect import Scope
from rocketchaos.harness.diagnose.diagnosis import Report
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.output.text import text
from rocketchaos.harness.diagnose.pseudonyms import Pseudonyms
from rocketchaos.harness.diagnose.read import keep_groups
from rocketchaos.harness.diagnose.reproduction import written
from tests.unit.diagnose.broker_edits import (
    NAME_SERVERS,
    V5,
    group_settings,
    knows_only,
    offset,
    ordered,
    retry_topic,
    second_name_server,
    settings,
)
from tests.unit.diagnose.member_edits import ALIKE, client_property, connections, queue_table, without_queue
from tests.unit.diagnose.reports import (
    SECOND,
    Edit,
    codes,
    diagnosed,
    each,
    renamed,
    second_broker,
    unanswered,
    unknown,
)

RECORDED = "mismatch-4.9.4.json"


def _on_second(change: Callable[[str, dict[str, Any]], None]) -> Edit:
    """The second broker's queues in each route, changed by topic."""

    def edited(item: Exchange) -> Exchange:
        if item.code != 105 or not item.body:
            return item
        document = item.document
        for queues in document.get("queueDatas", ()):
            if queues["brokerName"] == SECOND:
                change(item.fields["topic"], queues)
        return replace(item, body=json.dumps(document))

    return each(edited)


def _permission(bits: int, *, retries: bool) -> Edit:
    def change(topic: str, queues: dict[str, Any]) -> None:
        if topic.startswith("%RETRY%") is retries:
            queues["perm"] = bits

    return _on_second(change)


def _report(*changes: Edit) -> Report:
    return diagnosed(RECORDED, ALIKE, second_broker(), *changes)


@pytest.mark.parametrize("retries", [True, False])
def test_a_broker_that_may_not_be_written_is_left_out_so_nothing_can_be_reproduced(retries: bool) -> None:
    report = _report(_permission(4, retries=retries))
    (finding,) = report.findings
    assert (finding.check.code, finding.level) == ("RC0404", Level.WARNING)
    assert "nothing is refused" in str(written(report.views[finding.group], finding))


@pytest.mark.parametrize("retries", [True, False])
def test_a_broker_that_may_not_be_read_is_reproduced_alone(retries: bool) -> None:
    report = _report(_permission(2, retries=retries))
    (finding,) = report.findings
    assert (finding.check.code, finding.level) == ("RC0404", Level.ERROR)
    documents = written(report.views[finding.group], finding)
    assert not isinstance(documents, str)
    assert [document["cluster"] for document in documents if "cluster" in document] == []


def test_a_broker_that_lets_nobody_read_is_one_finding_of_a_group() -> None:
    """brokerPermission closes the topic and the retry topic alike."""
    closed = (
        *(_permission(2, retries=retries) for retries in (True, False)),
        settings(brokerPermission="2"),
    )
    report = _report(*closed)
    (finding,) = report.findings
    assert (finding.check.code, finding.level, finding.topic) == ("RC0404", Level.ERROR, "topic-1")
    assert "on broker-2 topic-1 and %RETRY%group-1 may not be read; the brokerPermission" in finding.sentence
    assert len(finding.evidence) == 2
    assert not isinstance(written(report.views[finding.group], finding), str)
    # Topics that were closed one by one are findings of their own.
    by_topic = _report(*closed[:-1])
    assert sorted(item.topic for item in by_topic.findings) == ["%RETRY%group-1", "topic-1"]


def test_the_effect_of_a_permission_on_one_broker() -> None:
    (unwritten,) = _report(_permission(4, retries=False)).findings
    assert unwritten.effect.startswith("Producers send to the other brokers.")
    (unread,) = _report(_permission(2, retries=False)).findings
    assert unread.effect == "Members leave out its queues: messages that are sent there wait."
    behind = (second_broker(), *offset(lambda _look: 5), _permission(2, retries=False))
    found = [item for item in diagnosed(RECORDED, ALIKE, *behind).findings if item.check.code == "RC0404"]
    assert [item.effect for item in found] == ["Members leave out its queues: 4 messages wait there now."]


def test_retries_that_no_broker_takes_keep_the_group_where_it_is() -> None:
    behind = offset(lambda _look: 5)
    failing = (307, lambda document: document["statusTable"].update({"topic-1": {"consumeFailedTPS": 2.0}}))
    report = diagnosed(RECORDED, ALIKE, retry_topic(4), failing, *behind, looks=17)
    (finding,) = report.findings
    assert finding.check.code == "RC0404"
    assert "every 5 s" in finding.effect
    assert [item.reason.partition(": see ")[2] for item in report.undetermined] == ["RC0404"]


@pytest.mark.parametrize("topic", ["topic-1", "%DLQ%topic-1"])
def test_a_topic_with_one_queue_or_of_dead_letters_is_on_one_broker_on_purpose(topic: str) -> None:
    one_queue = (
        105,
        lambda document: [item.update(writeQueueNums=1) for item in document.get("queueDatas", ())] and None,
    )
    changes = [one_queue] if topic == "topic-1" else [renamed({"topic-1": topic})]
    report = diagnosed(RECORDED, ALIKE, second_broker(has_topic=False), *changes)
    assert "RC0405" not in {item.check.code for item in report.findings}


@pytest.mark.parametrize(("most", "code"), [("4", "RC0405"), ("3", "RC0410")])
def test_a_topic_with_more_queues_than_a_first_message_makes_is_on_one_broker_by_choice(
    most: str, code: str
) -> None:
    known = settings(autoCreateTopicEnable="true", defaultTopicQueueNums=most)
    report = diagnosed(RECORDED, ALIKE, second_broker(has_topic=False), known, looks=15)
    assert code in codes(report)
    assert len(codes(report) & {"RC0405", "RC0410"}) == 1


def test_a_retry_topic_of_pop_that_is_not_there_is_none_that_is_missing() -> None:
    no_route = (105, lambda document: document.update(queueDatas=[]))
    assert "RC0401" in codes(diagnosed(RECORDED, ALIKE, no_route, looks=15))
    retries = renamed({"topic-1": "%RETRY%group-1_topic-1"})
    assert "RC0401" not in codes(diagnosed(RECORDED, ALIKE, no_route, retries, looks=15))


def test_an_id_that_two_processes_have_is_reported_once_with_what_waits() -> None:
    twice = connections(lambda known: known.append({**known[0], "clientAddr": "host-9:1"}))
    unowned = queue_table(lambda table: without_queue(table, 3))
    behind = (
        43,
        lambda document: [item.update({"3": 1}) for item in document["offsetTable"].values()] and None,
    )
    changes = (twice, second_broker(), unowned, behind)
    report = diagnosed(RECORDED, ALIKE, *changes)
    assert [item.check.code for item in report.findings] == ["RC0201"]
    reasons = [item.reason for item in report.undetermined if item.check.code == "RC0501"]
    assert [reason.partition(": see ")[2] for reason in reasons] == ["RC0201"]


def test_an_id_that_another_broker_knows_once_has_old_connections() -> None:
    """A broker that hung for a moment keeps the connections that its clients have given up."""

    def reconnected(item: Exchange) -> Exchange:
        if item.code != 203 or not item.address.endswith("2"):
            return item
        document = item.document
        known = document["connectionSet"]
        known.append({**known[0], "clientAddr": known[0]["clientAddr"].rpartition(":")[0] + ":1"})
        return replace(item, body=json.dumps(document))

    report = diagnosed(RECORDED, ALIKE, second_broker(), each(reconnected), looks=2)
    (finding,) = report.findings
    assert (finding.check.code, finding.level) == ("RC0201", Level.WARNING)
    assert "; broker-1 knows it from one address" in finding.sentence
    assert "old connections" in finding.effect
    assert "old connections" in str(written(report.views[finding.group], finding))


def test_how_far_members_that_broadcast_are_is_no_group() -> None:
    """As the proxy of 5.x stores it for its own group."""
    key = "topic-1@CID_DefaultHeartBeatSyncerTopic@broadcast"
    stored = (43, lambda document: document["offsetTable"].update({key: {"0": 76}}))
    report = diagnosed(RECORDED, ALIKE, stored, groups=None)
    assert report.groups == ("group-1",)


ORDERED: Mapping[str, tuple[Level | None, str]] = {
    "broker-1:4;broker-2:4": (None, ""),
    "broker-1:4": (Level.WARNING, "it leaves out 4 of 4 queues on broker-2"),
    "broker-1:4;broker-2:9": (Level.ERROR, "broker-2 has 4 writable queues"),
    "broker-1:4;broker-2:4;broker-9:1": (Level.ERROR, "broker-9 has no writable queue"),
    "broker-1": (Level.ERROR, "it can't be read"),
}


@pytest.mark.parametrize("configuration", ORDERED)
def test_an_order_configuration_that_does_not_fit_the_queues(configuration: str) -> None:
    level, text = ORDERED[configuration]
    report = diagnosed(RECORDED, ALIKE, second_broker(), ordered(configuration))
    assert [item.level for item in report.findings] == ([] if level is None else [level])
    assert all(item.check.code == "RC0409" and text in item.sentence for item in report.findings)


def test_a_bundle_has_pseudonyms_in_an_order_configuration() -> None:
    answer = Exchange(
        0, "h:1", 105, {"topic": "t"}, 0, answer_code=0, body='{"orderTopicConf": "red:4;blue:2"}'
    )
    shown = Pseudonyms.of(Scope(("h:1",), None), [answer]).exchange(answer)
    assert shown.document == {"orderTopicConf": "broker-2:4;broker-1:2"}


def _denied(item: Exchange) -> Exchange:
    denied = item.code == 202 and item.address.endswith("2") and "%" not in item.fields["topic"]
    return replace(item, answer_code=17, remark="topic[t] not exist", body="") if denied else item


def _slave_alone(item: Exchange) -> Exchange:
    if item.code != 106:
        return item
    document = item.document
    known = document["brokerAddrTable"][SECOND]
    known["brokerAddrs"] = {"1": known["brokerAddrs"]["0"]}
    return replace(item, body=json.dumps(document))


def test_a_broker_of_the_route_that_has_no_such_topic_is_an_error() -> None:
    found = {item.check.code: item.level for item in _report(each(_denied)).findings}
    assert found["RC0410"] is Level.ERROR


def test_a_broker_that_started_after_its_members_may_be_another_process_of_its_name() -> None:
    def young(item: Exchange) -> Exchange:
        if item.code != 28:
            return item
        table = item.document["table"]
        table["bootTimestamp"] = str(item.at_ms - 1000)
        table["runtime"] = "[ 0 days, 0 hours, 0 minutes, 1 seconds ]"
        return replace(item, body=json.dumps({"table": table}))

    report = _report(each(_denied), each(young))
    assert "RC0410" not in {item.check.code for item in report.findings}
    (reason,) = [item.reason for item in report.undetermined if item.check.code == "RC0410"]
    assert "as another process of the same name" in reason


def test_a_slave_alone_may_not_have_copied_the_topic_yet() -> None:
    assert "RC0410" not in {item.check.code for item in _report(each(_denied), each(_slave_alone)).findings}


def test_a_group_that_nobody_knows_may_have_a_namesake_in_another_namespace() -> None:
    def renamed(item: Exchange) -> Exchange:
        if item.code != 201:
            return item
        table = item.document["subscriptionGroupTable"]
        return replace(item, body=json.dumps({"subscriptionGroupTable": {"shop%group-9": table["group-1"]}}))

    report = diagnosed(RECORDED, each(renamed), groups=("group-9",))
    (reason,) = [item.reason for item in report.undetermined if item.check.code == "RC0210"]
    assert "brokers know shop%group-9 as well, by another namespace" in reason


def test_a_group_that_was_mistyped_is_named() -> None:
    """A broker's answer has the most similar group in place of one that isn't there, and no other."""
    table = {"subscriptionGroupTable": {"orders-group": {}, "billing": {}, "SELF_TEST_C_GROUP": {}}}
    kept = json.loads(keep_groups(json.dumps(table).encode(), ["order-group"]))
    assert list(kept["subscriptionGroupTable"]) == ["orders-group"]

    def known(document: Any) -> None:
        document["subscriptionGroupTable"] = {"group-7": {}}

    report = diagnosed(RECORDED, (201, known), unanswered(203, 206))
    (reason,) = [item.reason for item in report.undetermined if item.check.code == "RC0210"]
    assert "; brokers know group-7: did you mean that?" in reason


def test_groups_that_a_proxy_may_serve_are_not_passed_over() -> None:
    def used_by_a_proxy(document: Any) -> None:
        table = document["subscriptionGroupTable"]
        table |= {"CID_DefaultHeartBeatSyncerTopic": {}, **{f"group-{number}": {} for number in range(2, 9)}}

    report = diagnosed(RECORDED, (201, used_by_a_proxy), unanswered(203, 206), groups=None)
    (item,) = [item for item in report.undetermined if item.check.code == "RC0210"]
    assert item.group == ""
    assert (
        "no broker knows a member of group-1, group-2, group-3, group-4, group-5 and 3 other groups."
        in item.reason
    )
    assert "broker-1 has the group CID_DefaultHeartBeatSyncerTopic" in item.reason
    assert "--proxy` asks a proxy as well" not in text(report)
    # Without that group no proxy in cluster mode was here: nobody uses these groups.
    report = diagnosed(RECORDED, unanswered(203, 206), groups=None)
    assert not report.undetermined
    assert "no broker that was asked knows a member of group-1" in text(report)
    # All members of a group are known.
    assert not diagnosed(RECORDED, ALIKE, (201, only_the_proxys), groups=None).undetermined


def only_the_proxys(document: Any) -> None:
    document["subscriptionGroupTable"] |= {"CID_DefaultHeartBeatSyncerTopic": {}}


def test_a_topic_that_was_mistyped_is_not_passed_over() -> None:
    assert unknown(diagnosed(RECORDED, ALIKE, topics=("topic-1",))) == set()
    (item,) = diagnosed(RECORDED, ALIKE, topics=("topik-1",)).undetermined
    assert (item.check.code, item.topic) == ("RC0401", "topik-1")
    assert item.reason == "no group of this diagnosis consumes it; did you mean topic-1?"


def test_a_broker_that_refuses_pull_consumers_is_named_where_no_member_is_known() -> None:
    for version, named in ((V5, True), (each(lambda item: item), False)):  # 4.9 has no such setting
        changes = (version, settings(rejectPullConsumerEnable="true"), unanswered(203, 206))
        (item,) = [item for item in diagnosed(RECORDED, *changes).undetermined if item.check.code == "RC0210"]
        assert ("rejectPullConsumerEnable is true on broker-1: " in item.reason) is named


@pytest.mark.parametrize(("answer", "wanted"), [(16, True), (1, False)])
def test_a_question_that_access_control_refuses_needs_a_key(answer: int, wanted: bool) -> None:
    report = diagnosed(RECORDED, ALIKE, unanswered(28, answer))
    (item,) = [item for item in report.undetermined if item.check.code == "RC0803"]
    assert ("--access-key-file" in item.reason) is wanted


@pytest.mark.parametrize(("limit", "level"), [(-1, Level.ERROR), (0, Level.WARNING), (1, None)])
def test_a_limit_of_retries_that_makes_each_message_a_dead_letter(limit: int, level: Level | None) -> None:
    """gRPC members; seen on 5.5.0: with -1 the proxy makes all messages dead letters, and no listener gets one."""
    report = diagnosed("grpc-5.5.0.json", group_settings(retryMaxTimes=limit))
    found = [item for item in report.findings if item.check.code == "RC0703"]
    assert [item.level for item in found] == ([] if level is None else [level])
    assert all(item.effect.startswith("No listener gets any message") is (limit < 0) for item in found)


def test_a_topic_in_a_namespace_is_a_topic_like_others() -> None:
    report = diagnosed(
        RECORDED,
        ALIKE,
        second_broker(has_topic=False),
        settings(autoCreateTopicEnable="false"),
        renamed({"topic-1": "shop%topic-1"}),
        looks=15,
    )
    assert {(item.check.code, item.topic) for item in report.findings} == {("RC0410", "shop%topic-1")}


def test_a_member_of_another_name_server_is_named_with_it() -> None:
    """Of two name servers the second one alone knows broker-2."""

    def known(item: Exchange) -> Exchange:
        if item.code != 105 or item.address != NAME_SERVERS[0] or "%" in item.fields["topic"]:
            return item
        document = item.document
        document["queueDatas"] = document["queueDatas"][:1]
        return replace(item, body=json.dumps(document))

    asks = client_property(
        "PROP_NAMESERVER_ADDR", f"{NAME_SERVERS[0]};{NAME_SERVERS[1]};", f"{NAME_SERVERS[0]};"
    )
    changes = (knows_only(first=True), second_name_server(lambda body: body), each(known))
    report = diagnosed(RECORDED, ALIKE, *changes, asks, looks=15, name_servers=NAME_SERVERS)
    (sentence,) = [item.sentence for item in report.findings if item.check.code == "RC0209"]
    assert sentence.endswith(f"; it asks {NAME_SERVERS[0]}, and not {NAME_SERVERS[1]}, as other members do")


def _second_is_dead(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
    addresses = {item.address for item in exchanges}
    for item in exchanges:
        # That of the second broker is the first one's with a 2 behind it.
        dead = item.address.endswith("2") and item.address[:-1] in addresses
        yield replace(item, answer_code=None, remark="", body="", error="no connection") if dead else item


def test_a_broker_that_died_while_name_servers_were_asked_lacks_no_topic() -> None:
    lacking = (second_broker(has_topic=False), settings(autoCreateTopicEnable="true"))
    assert "RC0405" in codes(diagnosed(RECORDED, ALIKE, *lacking))
    report = diagnosed(RECORDED, ALIKE, *lacking, _second_is_dead)
    assert "RC0405" not in codes(report)
    (left,) = [item for item in report.undetermined if item.check.code == "RC0405"]
    assert left.reason.startswith("it may be a moment of a change: only broker-1 has it")


@pytest.mark.parametrize("both_alike", [False, True])
def test_members_of_name_servers_that_differ_agree_on_queues_never(both_alike: bool) -> None:
    """No new route is on its way to them: what lasts 25 s is certain, and otherwise it takes 55 s."""
    ids = client_property("PROP_NAMESERVER_ADDR", f"{NAME_SERVERS[0]};", f"{NAME_SERVERS[1]};")
    fewer = '"readQueueNums": 4' if both_alike else '"readQueueNums": 3'
    known = second_name_server(lambda body: body.replace('"readQueueNums": 4', fewer))
    lacking = queue_table(lambda table: without_queue(table, 3))
    report = diagnosed(RECORDED, ALIKE, known, ids, lacking, looks=15, name_servers=NAME_SERVERS)
    assert ("RC0301" in codes(report)) is not both_alike
