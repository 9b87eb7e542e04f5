"""Listeners that fail: retries, those of POP too, and what comes before the first one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from rocketchaos.harness.diagnose import read
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.reproduction import written
from tests.unit.diagnose.broker_edits import dead_letters, group_settings, offset, retry_end, retry_topic
from tests.unit.diagnose.member_edits import ALIKE, client_property, popping_members
from tests.unit.diagnose.planted import PLANTED
from tests.unit.diagnose.reports import (
    Change,
    Edit,
    by_look,
    codes,
    delayed,
    diagnosed,
    each,
    unknown,
)
from tests.unit.diagnose.test_reproduction import reproduced

POP_RETRY = "%RETRY%group-1_topic-1"
"""RocketMQ's name for the retries of topic-1 by POP."""
FIRST_LOOK_MS = 1_795_572_376_884
"""When the recorded answers of mismatch-4.9.4.json came."""


def _pop_retries(end: int) -> Edit:
    """The group has an offset of 0 in a retry topic by POP, which ends there."""

    def edited(exchanges: Sequence[Exchange]) -> Iterator[Exchange]:
        for item in exchanges:
            topic = item.fields.get("topic", "")
            if item.code == 43:
                document = item.document
                document["offsetTable"][f"{POP_RETRY}@group-1"] = {"0": 0}
                yield replace(item, body=json.dumps(document))
                continue
            yield item
            if item.code in (105, 202) and topic == "%RETRY%group-1":
                body = item.body.replace(topic, POP_RETRY).replace('"maxOffset": 0', f'"maxOffset": {end}')
                yield replace(item, fields={**item.fields, "topic": POP_RETRY}, body=body)

    return edited


def _unknown_yet(item: Exchange) -> Exchange:
    """Name servers learn of the topic up to 30 s after the first retry."""
    asked = item.code == 105 and item.fields["topic"] == POP_RETRY
    return replace(item, answer_code=17, remark="no topic", body="") if asked else item


def test_retries_by_pop_are_counted_before_name_servers_know_their_topic() -> None:
    """Measured on 5.5.0: 37 retries had come, and the name server didn't know the topic yet."""

    report = diagnosed("mismatch-4.9.4.json", ALIKE, _pop_retries(5), each(_unknown_yet), looks=3)
    (finding,) = report.findings
    assert (finding.check.code, finding.topic) == ("RC0701", POP_RETRY)
    assert "a SimpleConsumer doesn't ack" in finding.check.change[1]


def test_retries_by_pop_have_offsets_before_name_servers_know_their_topic() -> None:
    """On 5.5.0 it was undetermined whether the offset moves, and 8 retries of 8 were done."""

    edits = ALIKE, popping_members(2), _pop_retries(5), each(_unknown_yet)
    report = diagnosed("mismatch-4.9.4.json", *edits, looks=3)
    assert (codes(report), [item.reason for item in report.undetermined]) == ({"RC0701"}, [])


def test_retries_by_pop_are_written_with_members_that_pop() -> None:
    """Measured on 5.4.0 and 5.5.0, also by gRPC: reproduced, and the control is not."""
    report = diagnosed("mismatch-4.9.4.json", ALIKE, popping_members(2), _pop_retries(5), looks=3)
    (finding,) = [item for item in report.findings if item.topic == POP_RETRY]
    documents = written(report.views[finding.group], finding)
    assert not isinstance(documents, str), documents
    scenario, control = documents
    assert list(scenario["topics"]) == ["t1"]
    assert {(item["api"], str(item["behaviour"])) for item in scenario["consumers"].values()} == {
        ("pop", "{'fail': 1}")
    }
    assert {(item["api"], item.get("behaviour")) for item in control["consumers"].values()} == {("pop", None)}


@pytest.mark.parametrize("end", [0, 5])
def test_retries_by_pop_are_named_as_such(end: int) -> None:
    report = diagnosed("mismatch-4.9.4.json", ALIKE, _pop_retries(end), looks=3)
    found = [item for item in report.findings if item.check.code == "RC0701"]
    assert [(item.topic, item.sentence.partition(";")[0]) for item in found] == (
        [(POP_RETRY, "5 retries wait")] if end else []
    )


def _retried(failed: float, waiting: int, succeeded: float = 9.0) -> Edit:
    """Three retries have come, the last one a moment ago; so many calls fail and succeed a second."""

    def edited(item: Exchange) -> Exchange:
        document = item.document
        if item.code == 43:
            for key, offsets in document["offsetTable"].items():
                if key.startswith("%RETRY%"):
                    offsets["0"] = 3 - waiting
        elif item.code == 202 and item.fields["topic"] == "%RETRY%group-1":
            for item_ends in document["offsetTable"].values():
                item_ends.update(maxOffset=3, lastUpdateTimestamp=item.at_ms - 1000)
        elif item.code == 307:
            status = {"consumeOKTPS": succeeded, "consumeFailedTPS": failed}
            document["statusTable"] = {"topic-1": status}
        else:
            return item
        return replace(item, body=json.dumps(document))

    return each(edited)


@pytest.mark.parametrize(
    ("failed", "waiting", "level"), [(0.5, 0, Level.INFO), (2, 0, Level.WARNING), (0.5, 1, Level.WARNING)]
)
def test_a_few_retries_that_came_through_are_no_warning(failed: float, waiting: int, level: Level) -> None:
    (finding,) = diagnosed("mismatch-4.9.4.json", ALIKE, _retried(failed, waiting)).findings
    assert (finding.check.code, finding.level) == ("RC0701", level)
    # Not how many have come: retention may have deleted some.
    assert ("3 retries are stored" in finding.sentence) is (waiting == 0)


@pytest.mark.parametrize(("stored", "level"), [(7, Level.INFO), (6, Level.WARNING)])
def test_an_idle_group_is_judged_by_what_is_stored(stored: int, level: Level) -> None:
    """Of 4 queues with so many messages each, 3 came again."""

    def few(document: Any, _look: int) -> None:
        for key, row in document.get("offsetTable", {}).items():
            row.update({} if "%" in key else {"minOffset": 0, "maxOffset": stored})

    def reached(document: Any, _look: int) -> None:
        for key, offsets in document["offsetTable"].items():
            offsets.update({} if "%" in key else dict.fromkeys("0123", stored))

    changes = (by_look(202, few), by_look(43, reached), _retried(0.0, 0, 0.0))
    (finding,) = diagnosed("mismatch-4.9.4.json", ALIKE, *changes).findings
    assert (finding.check.code, finding.level) == ("RC0701", level)


def test_retries_by_pop_tell_when_messages_come_again() -> None:
    def popping(document: Any) -> None:
        document["properties"]["popInvisibleTime"] = "10000"
        document["mqPopTable"] = document.pop("mqTable")
        document["mqTable"] = {}

    report = diagnosed("mismatch-4.9.4.json", ALIKE, (307, popping), _pop_retries(5), looks=3)
    (finding,) = [item for item in report.findings if item.check.code == "RC0701"]
    assert "pop come again after 10 s (popInvisibleTime)" in finding.sentence


@pytest.mark.parametrize("code", ["RC0402", "RC0406", "RC0407"])
def test_an_offset_that_stands_still_because_pulls_are_refused_is_one_error(code: str) -> None:
    (planted,) = [item for item in PLANTED if item.code == code]
    still = offset(lambda _look: 1)
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *planted.changes, *still, looks=17)
    assert codes(report) == {code}
    assert "RC0501" in unknown(report)


def _fails(failed: float, orderly: str = "false") -> Change:
    def change(document: Any) -> None:
        document["properties"]["PROP_CONSUMEORDERLY"] = orderly
        document["statusTable"] = {"topic-1": {"consumeOKTPS": 0.1, "consumeFailedTPS": failed}}

    return 307, change


def test_the_first_retry_of_a_member_that_fails_is_waited_for() -> None:
    """It comes after 10 s: until then nothing was found."""
    failing = diagnosed("mismatch-4.9.4.json", ALIKE, _fails(2))
    (left,) = failing.undetermined
    assert (left.check.code, codes(failing)) == ("RC0701", set())
    assert "fails, and no retry has come so far" in left.reason
    for healthy in (_fails(0), _fails(0.001), _fails(2, orderly="true")):
        assert "RC0701" not in unknown(diagnosed("mismatch-4.9.4.json", ALIKE, healthy))


@pytest.mark.parametrize(
    "why",
    [group_settings(retryQueueNums=0), retry_topic(4), dead_letters(2)],
    ids=["dropped", "closed", "dead"],
)
def test_no_retry_is_waited_for_where_another_finding_says_that_none_comes(why: Any) -> None:
    report = diagnosed("mismatch-4.9.4.json", ALIKE, _fails(2), why)
    assert "RC0701" not in codes(report) | unknown(report)
    assert codes(report)


@pytest.mark.parametrize(
    ("model", "orderly", "found"),
    [
        ("BROADCASTING", "false", {"RC0704"}),
        ("BROADCASTING", "true", set()),
        ("CLUSTERING", "false", set()),
    ],
)
def test_members_that_broadcast_drop_what_their_listener_fails(
    model: str, orderly: str, found: set[str]
) -> None:
    """Measured on 4.9.4: nothing was found, and 8 messages were gone."""
    broadcasts = client_property("messageModel", model)
    report = diagnosed("mismatch-4.9.4.json", ALIKE, _fails(2, orderly), broadcasts)
    assert codes(report) == found
    for finding in report.findings:
        assert isinstance(written(report.views[finding.group], finding), str)


@pytest.mark.parametrize(("failed", "level"), [(0, Level.INFO), (2, Level.WARNING)])
def test_retries_of_a_listener_that_hangs_by_pop_are_told_by_the_hang(failed: float, level: Level) -> None:
    """Measured on 5.5.0: a hang (RC0601) was also called a failure."""

    def hangs(document: Any) -> None:
        document["mqTable"] = {}
        queue = json.dumps({"brokerName": "broker-1", "queueId": -1, "topic": "topic-1"})
        document["mqPopTable"] = {queue: {"droped": False, "waitAckCount": 40}}
        document["statusTable"] = {"%RETRY%group-1": {"consumeOKTPS": 0, "consumeFailedTPS": failed}}

    report = diagnosed("mismatch-4.9.4.json", ALIKE, (307, hangs), _pop_retries(5), looks=17)
    levels = {item.check.code: item.level for item in report.findings}
    assert (levels["RC0601"], levels["RC0701"]) == (Level.WARNING, level)


def _newest(ago_ms: int) -> Edit:
    """The newest message of each topic came so long before the first look."""

    def changed(document: Any, _look: int) -> None:
        for key, row in document.get("offsetTable", {}).items():
            row.update({} if "%" in key else {"lastUpdateTimestamp": FIRST_LOOK_MS - ago_ms})

    return by_look(202, changed)


@pytest.mark.parametrize(
    ("ago_ms", "model", "succeeded", "looks", "waits"),
    [
        (1_000, "BROADCASTING", 0.0, 1, True),
        (1_000, "BROADCASTING", 0.2, 1, False),
        (1_000, "CLUSTERING", 0.0, 1, False),
        (13_000, "BROADCASTING", 0.0, 1, False),
        (1_000, "BROADCASTING", 0.0, 17, False),
    ],
)
def test_members_that_broadcast_are_given_time_to_count(
    ago_ms: int, model: str, succeeded: float, looks: int, waits: bool
) -> None:
    """They count every 10 s: the first look at four messages that had failed found nothing (5.5.0)."""

    def counts(document: Any) -> None:
        document["statusTable"] = {"topic-1": {"consumeOKTPS": succeeded, "consumeFailedTPS": 0}}

    changes = (ALIKE, _newest(ago_ms), (307, counts), client_property("messageModel", model))
    report = diagnosed("mismatch-4.9.4.json", *changes, looks=looks)
    assert ("only every 10 s whether a listener fails" in str(report.undetermined)) is waits


@pytest.mark.parametrize(("succeeded", "waits"), [(0.0, True), (0.2, False)])
def test_members_that_pop_are_given_time_to_count(succeeded: float, waits: bool) -> None:
    """Their failed messages show nowhere until they come again, after popInvisibleTime."""

    def popping(document: Any) -> None:
        document["mqTable"] = {}
        queue = json.dumps({"brokerName": "broker-1", "queueId": -1, "topic": "topic-1"})
        document["mqPopTable"] = {queue: {"droped": False, "waitAckCount": 0}}
        document["statusTable"] = {"topic-1": {"consumeOKTPS": succeeded, "consumeFailedTPS": 0}}

    report = diagnosed("mismatch-4.9.4.json", ALIKE, _newest(1_000), (307, popping))
    assert ("only every 10 s whether a listener fails" in str(report.undetermined)) is waits


@pytest.mark.parametrize(
    ("kept_ms", "newest_ms", "succeeded", "orderly", "waits"),
    [
        (1_000, 1_000, 0.0, "false", True),
        (1_000, 1_000, 0.2, "false", False),
        (1_000, 1_000, 0.0, "true", False),
        (13_000, 1_000, 0.0, "false", False),
        (1_000, 13_000, 0.0, "false", False),
    ],
)
def test_members_are_given_time_to_count_where_a_broker_has_just_delayed_messages(
    kept_ms: int, newest_ms: int, succeeded: float, orderly: str, waits: bool
) -> None:
    """Four of 68 looks came within 5 s of the failures: the retries were still delayed (4.9.4, 5.5.0)."""

    def counts(document: Any) -> None:
        document["properties"]["PROP_CONSUMEORDERLY"] = orderly
        document["statusTable"] = {"topic-1": {"consumeOKTPS": succeeded, "consumeFailedTPS": 0}}

    keeps = delayed(9_000, ago_ms=kept_ms)
    report = diagnosed("mismatch-4.9.4.json", ALIKE, _newest(newest_ms), (307, counts), keeps)
    assert ("only every 10 s whether a listener fails" in str(report.undetermined)) is waits


@pytest.mark.parametrize(("offset_of_other", "said"), [(4, "all"), (1, "1"), (0, None)])
def test_who_consumes_the_dead_letters_is_told(offset_of_other: int, said: str | None) -> None:
    def consumed(document: Any, _look: int) -> None:
        document["offsetTable"]["%DLQ%group-1@group-2"] = {"0": offset_of_other}
        document["offsetTable"]["%DLQ%group-1@CID_RMQ_SYS_TOOLS"] = {"0": 4}

    (finding,) = diagnosed("mismatch-4.9.4.json", ALIKE, dead_letters(4), by_look(43, consumed)).findings
    assert (finding.check.code, finding.level) == ("RC0702", Level.WARNING)
    begin, _, read_by = finding.sentence.partition("; group ")
    assert begin == "4 dead letters"
    assert read_by == (f"group-2 has read {said} of them" if said else "")


def test_offsets_of_others_are_kept_only_in_the_groups_own_dead_letter_topic() -> None:
    keys = ["orders@g", "orders@h", "%DLQ%g@h", "%DLQ%h@g2", "%DLQ%h@h"]
    body = json.dumps({"offsetTable": {key: {"0": 1} for key in keys}}).encode()
    kept = json.loads(read.keep_offsets(body, ["g"]))
    assert list(kept["offsetTable"]) == ["orders@g", "%DLQ%g@h"]
    assert kept["groups"] == 3


def test_the_proof_of_waiting_retries_has_the_offset_of_their_owner() -> None:
    """Measured on 5.1.4: of 511 retries, 396 waited, and the proof said that the group was at 110."""

    def gets_on(document: Any) -> None:
        for key, held in document["mqTable"].items():
            if "%RETRY%" in key:
                held["commitOffset"] = 5

    report = diagnosed("mismatch-4.9.4.json", ALIKE, retry_end(9), (307, gets_on), looks=3)
    (found,) = [item for item in report.findings if item.check.code == "RC0701"]
    assert found.sentence.startswith("4 retries wait")
    assert [item.says.partition(" to ")[2] for item in found.evidence] == ["9, group at 0, its owner at 5"]


@pytest.mark.parametrize(
    ("code", "change"), [("RC0702", dead_letters(2)), ("RC0703", client_property("maxReconsumeTimes", "0"))]
)
def test_dead_letters_of_an_orderly_group_are_written_without_a_delay_of_retries(
    code: str, change: Edit
) -> None:
    """An orderly listener retries in place: no scenario was written, since the delay made it invalid."""
    orderly = client_property("PROP_CONSUMEORDERLY", "true")
    for document in reproduced(code, ALIKE, orderly, change):
        for item in document["consumers"].values():
            assert item["listener"] == "orderly"
            assert "retry_delay_level" not in item


def _one_orderly(document: Any) -> None:
    queues = str(list(document["mqTable"]))
    document["properties"]["PROP_CONSUMEORDERLY"] = "true" if '"queueId": 3' in queues else "false"


@pytest.mark.parametrize(
    ("code", "change"),
    [("RC0704", group_settings(retryQueueNums=0)), ("RC0705", group_settings(retryQueueNums=2))],
)
def test_retries_that_get_lost_are_written_with_listeners_that_hand_them_back(
    code: str, change: Edit
) -> None:
    """An orderly listener retries in place, so that the scenario was invalid, and its numbers untrue."""
    for document in reproduced(code, ALIKE, (307, _one_orderly), change):
        assert {"listener", "retry_delay_level"} & set.union(*map(set, document["consumers"].values())) == {
            "retry_delay_level"
        }


@pytest.mark.parametrize("orderly", ["true", "false"])
def test_an_orderly_group_hands_nothing_back_to_a_closed_retry_topic(orderly: str) -> None:
    changes = ALIKE, retry_topic(4), client_property("PROP_CONSUMEORDERLY", orderly)
    report = diagnosed("mismatch-4.9.4.json", *changes)
    (finding,) = [item for item in report.findings if item.check.code == "RC0404"]
    found = written(report.views[finding.group], finding)
    assert ("retries in place" in str(found)) is (orderly == "true")
