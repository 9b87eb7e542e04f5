"""Each check finds what it is for, on recorded answers of real clusters in which one thing was changed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rocketchaos.harness.diagnose.checks import CHECKS
from rocketchaos.harness.diagnose.diagnosis import Report
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.output.text import text
from tests.unit.diagnose.broker_edits import (
    NAME_SERVERS,
    group_settings,
    offset,
    route_fields,
    second_name_server,
    settings,
)
from tests.unit.diagnose.member_edits import ALIKE, FIRST, OTHER
from tests.unit.diagnose.planted import PLANTED, Planted
from tests.unit.diagnose.reports import (
    BROKER,
    Change,
    by_look,
    codes,
    diagnosed,
    diagnosis,
    each,
    renamed,
    second_broker,
    unanswered,
    unknown,
)

BOTH = pytest.mark.parametrize("recorded", ["mismatch-4.9.4.json", "mismatch-5.5.0.json"])
EACH = pytest.mark.parametrize("planted", [pytest.param(item, id=item.code) for item in PLANTED])

STORED = '"lastUpdateTimestamp": 1795132800000'
ONLY_UNDETERMINED = {"RC0208", "RC0210", "RC0803"}
"""A member that doesn't answer is never known to be ill."""


def _report(recorded: str, planted: Planted, *, near: bool = False) -> Report:
    changes = planted.near if near else planted.changes
    scope = dict(planted.scope)
    return diagnosed(recorded, ALIKE, *changes, looks=planted.looks, **scope)


@BOTH
def test_nothing_is_found_where_nothing_is_wrong(recorded: str) -> None:
    report = diagnosed(recorded, ALIKE, looks=15)
    assert not codes(report)
    assert not report.undetermined


@EACH
@BOTH
def test_what_is_wrong_is_found(recorded: str, planted: Planted) -> None:
    report = _report(recorded, planted)
    shown = unknown(report) if planted.code in ONLY_UNDETERMINED else codes(report)
    assert planted.code in shown, [(item.check.code, item.reason) for item in report.undetermined]
    assert planted.code not in {item.check.code for item in report.ruled_out}
    assert codes(report) <= {planted.code}  # and nothing else is accused


@EACH
@BOTH
def test_what_is_nearly_so_is_not_found(recorded: str, planted: Planted) -> None:
    report = _report(recorded, planted, near=True)
    assert planted.code not in codes(report) | unknown(report)


@pytest.mark.parametrize("code", ["RC0301", "RC0302", "RC0603"])
def test_what_may_be_a_moment_of_a_change_is_not_reported_as_certain(code: str) -> None:
    (planted,) = [item for item in PLANTED if item.code == code]
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *planted.changes, looks=3)
    assert code not in codes(report)
    assert code in unknown(report)


def test_an_id_that_counts_twice_explains_the_queues_that_nobody_has() -> None:
    def change(document: Any) -> None:
        first, other = document["connectionSet"]
        other.update(clientId=first["clientId"])

    (finding,) = diagnosed("mismatch-4.9.4.json", ALIKE, (203, change), looks=29).findings
    assert finding.check.code == "RC0201"
    assert "no member owns broker-1 2 and 3 of topic-1" in finding.sentence


def test_where_members_pop_an_id_that_counts_twice_leaves_no_queue_to_nobody() -> None:
    def change(document: Any) -> None:
        first, other = document["connectionSet"]
        other.update(clientId=first["clientId"])

    pops = (307, lambda document: document["properties"].update(clientRebalance="false"))
    (finding,) = diagnosed("mismatch-4.9.4.json", ALIKE, (203, change), pops, looks=29).findings
    assert finding.check.code == "RC0201"
    assert "no member owns" not in finding.sentence


def test_a_topic_that_brokers_make_at_the_first_message_is_a_warning() -> None:
    (planted,) = [item for item in PLANTED if item.code == "RC0401"]
    found = [
        diagnosed(
            "mismatch-4.9.4.json", ALIKE, *planted.changes, settings(autoCreateTopicEnable=text), looks=15
        )
        for text in ("true", "false")
    ]
    assert [item.level for report in found for item in report.findings] == [Level.WARNING, Level.ERROR]


def test_a_silent_member_is_reported_once_with_what_it_hides() -> None:
    report = diagnosed("mismatch-4.9.4.json", ALIKE, unanswered(307, None, clientId=OTHER))
    shown = [line for line in text(report).splitlines() if line.startswith("undetermined")]
    assert [line.split()[1] for line in shown] == ["[RC0208]", "for"]
    assert "RC0101, RC0102, RC0105, RC0106, RC0107, RC0204" in shown[1]


@pytest.mark.parametrize(("language", "looks"), [("GO", 4), ("JAVA", 3)])
def test_an_empty_answer_of_a_go_client_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, language: str, looks: int
) -> None:
    """It answers 307 without a body for 10 s after its first messages."""
    monkeypatch.setattr("rocketchaos.harness.diagnose.diagnosis.LOOKS_AFTER_S", (0.0,))

    def speaks(document: Any) -> None:
        for item in document["connectionSet"]:
            item["language"] = language

    def empty(item: Exchange) -> Exchange:
        return replace(item, body="") if item.code == 307 and item.look < 3 else item

    looking = diagnosis("mismatch-4.9.4.json", ALIKE, (203, speaks), each(empty), looks=4)
    looking.recorded = None
    report = asyncio.run(looking.run())
    assert len(report.looks) == looks
    assert ("RC0208" in unknown(report)) is (language == "JAVA")


def test_queues_of_a_silent_member_are_named_if_messages_wait_there() -> None:
    behind = offset(lambda _look: 1)
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *behind, unanswered(307, None, clientId=FIRST))
    (line,) = [item for item in report.undetermined if item.check.code == "RC0301" and not item.by_silence]
    assert f"{FIRST} may own" in line.reason


def test_what_a_silent_member_may_hide_is_never_ruled_out() -> None:
    report = diagnosed("mismatch-4.9.4.json", ALIKE, unanswered(307, 3))
    hidden = {"RC0105", "RC0106", "RC0301", "RC0302", "RC0303", "RC0601", "RC0602", "RC0603"}
    assert hidden <= unknown(report)
    assert not hidden & {item.check.code for item in report.ruled_out}


def test_grpc_members_of_several_languages_are_no_malady() -> None:
    grpc = renamed({FIRST: "host-2@11@0@dn4k7vbpotia", OTHER: "host-3@12@0@dn4k7vcyjyoi"})
    languages = (203, lambda document: document["connectionSet"][0].update(language="CPP"))
    assert not codes(diagnosed("mismatch-4.9.4.json", ALIKE, languages, grpc))
    assert codes(diagnosed("mismatch-4.9.4.json", ALIKE, languages)) == {"RC0203"}


def test_versions_of_different_languages_are_not_compared() -> None:
    (planted,) = [item for item in PLANTED if item.code == "RC0204"]
    languages = (203, lambda document: document["connectionSet"][0].update(language="CPP"))
    assert codes(diagnosed("mismatch-4.9.4.json", ALIKE, *planted.changes, languages)) == {"RC0203"}


def test_shares_by_consistent_hash_are_undetermined_in_a_bundle() -> None:
    hashing = _of_members(allocateMessageQueueStrategy="x.AllocateMessageQueueConsistentHash@1")
    (other_topic,) = [item for item in PLANTED if item.code == "RC0106"]
    hidden = diagnosed("mismatch-4.9.4.json", ALIKE, hashing, *other_topic.changes, pseudonyms=True)
    assert codes(hidden) == {"RC0106"}
    (unknown_,) = hidden.undetermined
    assert unknown_.check.code == "RC0301"
    assert "which a bundle hides" in unknown_.reason
    (five,) = [item for item in PLANTED if item.code == "RC0303"]
    spare = diagnosed("mismatch-4.9.4.json", ALIKE, hashing, *five.changes, pseudonyms=True)
    assert "which a bundle hides" in next(item.reason for item in spare.undetermined)


def _of_members(**properties: str) -> Change:
    return 307, lambda document: document["properties"].update(properties)


def test_every_check_is_planted_once() -> None:
    assert [item.code for item in PLANTED] == list(CHECKS)


def test_each_check_looks_at_the_cluster_or_at_groups() -> None:
    both = {
        code for code, check in CHECKS.items() if check.of_group is not None and check.of_cluster is not None
    }
    # Groups without a known member: one that the user names, or all that an unknown proxy may serve.
    assert both == {"RC0210"}
    assert all(check.of_group is not None or check.of_cluster is not None for check in CHECKS.values())


def test_a_broker_that_has_left_is_reported_also_where_the_next_look_is_at_no_group() -> None:
    (planted,) = [item for item in PLANTED if item.code == "RC0807"]

    def cluster_alone(exchanges: Any) -> Any:
        return [item for item in exchanges if item.look == 0 or item.code in (26, 28, 43, 106, 201)]

    report = diagnosed("mismatch-4.9.4.json", ALIKE, *planted.changes, cluster_alone, looks=2)
    assert "RC0807" in codes(report)


def test_a_topic_that_another_name_server_routes_to_both_brokers_is_on_both() -> None:
    def knows_one(item: Exchange) -> Exchange:
        if item.code != 105 or item.address != NAME_SERVERS[0] or "%" in item.fields["topic"]:
            return item
        document = item.document
        document["queueDatas"] = document["queueDatas"][:1]
        return replace(item, body=json.dumps(document))

    changes = (second_broker(), second_name_server(lambda body: body), each(knows_one))
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *changes, looks=2, name_servers=NAME_SERVERS)
    assert {"RC0801"} == codes(report)


def test_a_permission_that_one_name_server_lacks_is_found_by_a_second_look_at_its_topic(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rocketchaos.harness.diagnose.diagnosis.LOOKS_AFTER_S", (0.0,))
    wiped = second_name_server(lambda body: body.replace('"perm": 6', '"perm": 4'))
    looking = diagnosis("mismatch-4.9.4.json", ALIKE, wiped, looks=2, name_servers=NAME_SERVERS)
    looking.recorded = None  # a live one asks only the groups whose first look wasn't sure
    report = asyncio.run(looking.run())
    assert codes(report) == {"RC0801"}
    assert {route.exchange.look for route in report.looks[1].routes["topic-1"].values()} == {1}
    assert all(item.effect.startswith("Members see the same queues.") for item in report.findings)


def test_dead_letters_are_shown_with_the_time_of_the_newest() -> None:
    (planted,) = [item for item in PLANTED if item.code == "RC0702"]
    old = each(lambda item: replace(item, body=item.body.replace('"lastUpdateTimestamp": 0', STORED)))
    (finding,) = diagnosed("mismatch-4.9.4.json", ALIKE, *planted.changes, old).findings
    assert finding.sentence.endswith("dead letters; the newest is of 2026-11-20 00:00:00.000Z")


def test_a_name_server_that_brokers_list_and_nobody_gave_is_reported() -> None:
    asked = "host-1:9876"
    report = diagnosed("mismatch-4.9.4.json", ALIKE, settings(namesrvAddr=f"{asked};host-9:9876"), looks=1)
    (finding,) = report.findings
    assert (finding.check.code, finding.level) == ("RC0801", Level.INFO)
    assert "host-9:9876" in finding.sentence
    assert not codes(diagnosed("mismatch-4.9.4.json", ALIKE, settings(namesrvAddr="names.example:9876")))


def test_two_processes_with_one_broker_id_are_known_by_addresses_that_take_turns() -> None:
    def at(others: Sequence[int]) -> Change:
        def change(document: Any, look: int) -> None:
            known = document["brokerAddrTable"][BROKER]["brokerAddrs"]
            known["0"] = "host-7:1" if look in others else known["0"]

        return by_look(106, change)

    turns = diagnosed("mismatch-4.9.4.json", ALIKE, at([1]), looks=3)
    (finding,) = [item for item in turns.findings if item.check.code == "RC0802"]
    assert finding.sentence.startswith(f"broker id 0 of {BROKER} is host-1:")
    assert "and host-7:1 in turn at" in finding.sentence
    moved = diagnosed("mismatch-4.9.4.json", ALIKE, at([1, 2]), looks=3)
    assert ("RC0802" in codes(moved), "RC0802" in unknown(moved)) == (False, True)
    long_ago = diagnosed("mismatch-4.9.4.json", ALIKE, at(range(1, 40)), looks=40)
    assert "RC0802" not in codes(long_ago) | unknown(long_ago)


def test_a_broker_that_closes_all_its_topics_is_given_as_the_reason() -> None:
    read_only = (
        105,
        lambda document: [item.update(perm=4) for item in document.get("queueDatas", ())] and None,
    )
    by_broker = diagnosed("mismatch-4.9.4.json", ALIKE, read_only, settings(brokerPermission="4"))
    by_topic = diagnosed("mismatch-4.9.4.json", ALIKE, read_only, settings(brokerPermission="6"))
    for report, named in ((by_broker, True), (by_topic, False)):
        assert codes(report) == {"RC0404"}
        assert all(("brokerPermission" in item.sentence) is named for item in report.findings)


@pytest.mark.parametrize(("perm", "said"), [(4, [True]), (0, [False, False])])
def test_nobody_reads_what_is_closed_both_ways(perm: int, said: list[bool]) -> None:
    report = diagnosed("mismatch-4.9.4.json", ALIKE, route_fields(perm=perm))
    found = [item for item in report.findings if item.check.code == "RC0404" and "%" not in item.topic]
    assert ["Members still get what is stored" in item.effect for item in found] == said


def test_a_client_that_does_not_know_the_question_is_not_called_a_proxy() -> None:
    report = diagnosed("mismatch-4.9.4.json", ALIKE, unanswered(307, 3, clientId=OTHER))
    assert "proxy" not in text(report).partition("no finding")[0]
    assert "its client doesn't know request 307" in text(report)


def _without_a_queue(exchange: Exchange) -> Exchange:
    if exchange.code != 307:
        return exchange
    document = exchange.document
    for key in [key for key in document["mqTable"] if "%" not in key and '"queueId": 3' in key]:
        del document["mqTable"][key]
    return replace(exchange, body=json.dumps(document))


def test_the_queues_of_a_static_topic_are_those_that_members_divide() -> None:
    """As 5.5.0 answers: brokers map the queues of `__syslo__global__` to queues of their own."""

    def mapped(document: Any) -> None:
        if any(item["readQueueNums"] == 4 for item in document.get("queueDatas", ())):
            ids = {str(number): number for number in range(4)}
            document["topicQueueMappingByBroker"] = {BROKER: {"scope": "__global__", "currIdMap": ids}}

    def logical(document: Any) -> None:
        table = document["mqTable"]
        document["mqTable"] = {
            key if "%" in key else key.replace(BROKER, "__syslo__global__"): held
            for key, held in table.items()
        }

    def further(document: Any) -> None:
        """Whatever offsets mean there."""
        for key, offsets in document["offsetTable"].items():
            if "%" not in key:
                offsets.update({"0": 100, "7": 3})

    static = ((105, mapped), (43, further))
    report = diagnosed("mismatch-5.5.0.json", ALIKE, *static, (307, logical), looks=29)
    assert not codes(report)
    assert {item.check.code for item in report.undetermined} == {
        "RC0501",
        "RC0503",
        "RC0504",
        "RC0505",
        "RC0506",
    }
    lost = diagnosed("mismatch-5.5.0.json", ALIKE, *static, (307, logical), each(_without_a_queue), looks=29)
    assert codes(lost) == {"RC0301"}


def test_versions_in_nanoseconds_are_fine_where_all_members_send_them() -> None:
    (planted,) = [item for item in PLANTED if item.code == "RC0105"]

    def language(document: Any) -> None:
        for item in document["connectionSet"]:
            item["language"] = "GO"

    alone = diagnosed("mismatch-4.9.4.json", ALIKE, *planted.changes, (203, language))
    assert "RC0105" not in codes(alone)


def test_brokers_that_forbid_a_group_to_consume_are_one_finding() -> None:
    report = diagnosed("mismatch-5.5.0.json", ALIKE, second_broker(), group_settings(consumeEnable=False))
    (finding,) = (item for item in report.findings if item.check.code == "RC0406")
    assert finding.sentence == "consumeEnable is false on broker-1 and broker-2"
    assert [evidence.says.split(":")[0] for evidence in finding.evidence] == ["broker-1", "broker-2"]


def test_stranded_messages_of_any_tag_name_none() -> None:
    closed = route_fields(readQueueNums=0, writeQueueNums=4)
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *offset(lambda _look: 5), closed)
    (finding,) = (item for item in report.findings if item.check.code == "RC0403")
    assert {lost.text.split(": ")[1] for lost in finding.messages} == {"4 stranded, not passed yet"}
