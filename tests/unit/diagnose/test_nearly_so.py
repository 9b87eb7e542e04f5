"""States that look like another one: default times, messages that were read, brokers closed."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from itertools import cycle
from typing import Any

import pytest

from rocketchaos.harness.diagnose import bundle
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.pseudonyms import Pseudonyms
from rocketchaos.harness.diagnose.reproduction import written
from tests.unit.diagnose.broker_edits import (
    NAME_SERVERS,
    V5,
    dead_letters,
    offset,
    other_topic,
    route_fields,
    runtime,
    second_name_server,
)
from tests.unit.diagnose.member_edits import (
    ALIKE,
    STRATEGY,
    client_property,
    orderly,
    tries,
    wants,
    without_queue,
)
from tests.unit.diagnose.reports import RECORDED as BUNDLES
from tests.unit.diagnose.reports import (
    SECOND,
    Change,
    Edit,
    by_look,
    codes,
    diagnosed,
    each,
    second_broker,
    unknown,
)

RECORDED = "mismatch-5.5.0.json"


def _starts(*seconds_before: int) -> tuple[Change, ...]:
    """Members that start at a timestamp, so long before each was started; of a client 8 h east of Greenwich."""
    turn = cycle(seconds_before)

    def change(document: Any) -> None:
        own = document["properties"]
        at = int(own["PROP_CONSUMER_START_TIMESTAMP"]) / 1000 - next(turn) + 8 * 3600
        own.update(consumeFromWhere="CONSUME_FROM_TIMESTAMP")
        own.update(consumeTimestamp=f"{datetime.fromtimestamp(at, UTC):%Y%m%d%H%M%S}")

    return ALIKE, (307, change)


def test_members_that_start_at_other_times_differ_unless_it_is_the_default() -> None:
    report = diagnosed(RECORDED, *_starts(86_400 + 77, 7 * 86_400 + 77))
    (finding,) = report.findings
    assert finding.check.code == "RC0205"
    assert "CONSUME_FROM_TIMESTAMP 20" in finding.sentence
    assert codes(diagnosed(RECORDED, *_starts(1_800, 1_805))) == set()
    assert codes(diagnosed(RECORDED, *_starts(1_800, 86_400 + 77))) == {"RC0205"}


def test_messages_that_were_read_before_their_queues_were_closed_do_not_wait() -> None:
    closed = route_fields(readQueueNums=0, writeQueueNums=4)
    (read,) = [
        item
        for item in diagnosed(RECORDED, ALIKE, *offset(lambda _look: 9), closed).findings
        if item.check.code == "RC0403"
    ]
    assert read.effect == read.check.effect
    assert not read.messages
    (unread,) = [
        item
        for item in diagnosed(RECORDED, ALIKE, *offset(lambda _look: 5), closed).findings
        if item.check.code == "RC0403"
    ]
    assert sum(item.count for item in unread.messages) == 4
    assert unread.effect.startswith("4 messages that the group hasn't read")


def test_what_broadcasting_members_have_reached_has_pseudonyms_too() -> None:
    """BroadcastOffsetManager of 5.x stores it as `topic@group@broadcast`."""
    known = bundle.read(BUNDLES / RECORDED)
    body = json.dumps({"offsetTable": {"orders_paid@payment_group@broadcast": {"0": 1}}})
    item = replace(next(item for item in known.exchanges if item.code == 43), body=body)
    hidden = Pseudonyms.of(known.scope, [item]).exchange(item).body
    assert "payment_group" not in hidden
    assert '@broadcast": {"0": 1}' in hidden


def test_dead_letters_of_a_failure_that_is_over_are_no_warning() -> None:
    def newest(days: float) -> Edit:
        def change(item: Exchange) -> Exchange:
            if item.code != 202 or "%DLQ%" not in item.fields["topic"]:
                return item
            document = item.document
            for queue in document["offsetTable"].values():
                queue["lastUpdateTimestamp"] = item.at_ms - int(days * 86_400_000)
            return replace(item, body=json.dumps(document))

        return each(change)

    for days, level in ((0.5, Level.WARNING), (2, Level.INFO)):
        (finding,) = diagnosed(RECORDED, ALIKE, dead_letters(2), newest(days)).findings
        assert (finding.check.code, finding.level) == ("RC0702", level)


def test_a_topic_that_no_broker_takes_is_an_error() -> None:
    (finding,) = diagnosed(RECORDED, ALIKE, _closed("topic-1")).findings
    assert (finding.check.code, finding.level) == ("RC0404", Level.ERROR)


def _closed(*topics: str, on: str = "") -> Edit:
    """Topics that may not be written, on all brokers or one."""

    def change(item: Exchange) -> Exchange:
        if item.code != 105 or not item.body or item.fields["topic"] not in topics:
            return item
        document = item.document
        for queues in document.get("queueDatas", ()):
            queues["perm"] = 4 if on in ("", queues["brokerName"]) else queues["perm"]
        return replace(item, body=json.dumps(document))

    return each(change)


def test_a_broker_that_takes_no_messages_is_one_finding_of_a_group() -> None:
    everything = _closed("topic-1", "%RETRY%group-1", on=SECOND)
    (finding,) = diagnosed(RECORDED, ALIKE, second_broker(), everything).findings
    assert (finding.check.code, finding.level, finding.topic) == ("RC0404", Level.WARNING, "topic-1")
    two_topics = (second_broker(), _two_topics, _closed("topic-1", "topic-2", "%RETRY%group-1", on=SECOND))
    report = diagnosed(RECORDED, ALIKE, *two_topics)
    (finding,) = [item for item in report.findings if item.check.code == "RC0404"]
    assert "topic-1 and topic-2 may not be written" in finding.sentence
    assert "nothing is refused" in str(written(report.views[finding.group], finding))


def _two_topics(exchanges: Any) -> Any:
    """All that is said of topic-1 is said of topic-2 too."""
    for item in exchanges:
        if item.fields.get("topic") == "topic-1":
            fields = {**item.fields, "topic": "topic-2"}
            yield replace(item, fields=fields, body=item.body.replace('"topic-1"', '"topic-2"'))
        elif item.code == 203 and item.body:
            document = item.document
            table = document["subscriptionTable"]
            table["topic-2"] = {**table["topic-1"], "topic": "topic-2"}
            yield replace(item, body=json.dumps(document))
            continue
        elif item.code == 307 and item.body:
            document = item.document
            own = document["subscriptionSet"]
            own += [{**known, "topic": "topic-2"} for known in own if known["topic"] == "topic-1"]
            table = document["mqTable"]
            table |= {key.replace('"topic-1"', '"topic-2"'): held for key, held in table.items()}
            yield replace(item, body=json.dumps(document))
            continue
        yield item


def test_topics_whose_routes_differ_by_the_same_broker_are_one_finding() -> None:
    fewer = second_name_server(lambda body: body.replace('"readQueueNums": 4', '"readQueueNums": 2'))
    report = diagnosed(RECORDED, ALIKE, _two_topics, fewer, looks=2, name_servers=NAME_SERVERS)
    (finding,) = [item for item in report.findings if item.check.code == "RC0801"]
    assert "the routes of topic-1 and topic-2 differ in" in finding.sentence
    assert {item.exchange.fields["topic"] for item in finding.evidence} == {"topic-1", "topic-2"}


def test_a_member_that_leaves_commits_to_its_application_may_have_its_messages() -> None:
    behind = offset(lambda _look: 1)
    pulls = client_property("PROP_CONSUME_TYPE", "CONSUME_ACTIVELY")
    for committed, level in (("false", Level.WARNING), ("true", Level.ERROR)):
        own = client_property("autoCommit", committed)
        report = diagnosed(RECORDED, ALIKE, pulls, own, *behind, tries(1_000), looks=17)
        (finding,) = [item for item in report.findings if item.check.code == "RC0501"]
        assert finding.level is level
        assert ("the application commits" in finding.sentence) is (committed == "false")
    holds = tries(0, cached=3)
    own = client_property("autoCommit", "false")
    report = diagnosed(RECORDED, ALIKE, pulls, own, *behind, holds, looks=17)
    assert not [item for item in report.findings if "the application commits" in item.sentence]


def test_what_comes_and_goes_is_not_ruled_out() -> None:
    def change(document: Any, look: int) -> None:
        if look % 4 < 2:
            without_queue(document["mqTable"], 3)

    report = diagnosed(RECORDED, ALIKE, by_look(307, change), looks=19)
    assert "RC0301" not in codes(report)
    assert "RC0301" not in {item.check.code for item in report.ruled_out}
    once = diagnosed(
        RECORDED,
        ALIKE,
        by_look(307, lambda document, look: change(document, look) if look < 4 else None),
        looks=19,
    )
    assert "RC0301" in {item.check.code for item in once.ruled_out}


def test_what_a_timer_holds_may_be_entries_of_popped_messages_and_is_no_finding() -> None:
    """Each POP and gRPC group has some: `timerCongestNum` doesn't tell them from delayed messages."""
    holds = runtime(timerOffsetBehind="0", timerReadBehind="0", timerCongestNum="4")
    assert "RC0812" not in codes(diagnosed(RECORDED, ALIKE, holds, V5))


def test_the_message_that_an_orderly_listener_handles_is_in_its_hands() -> None:
    """ProcessQueue.takeMessages of 4.9.4 and 5.5.0 counts it as a transactionMsg, and no more as a cached one."""

    def one_in_hand(document: Any, look: int) -> None:
        for key, held in document["mqTable"].items():
            if "%" not in key and '"queueId": 0' in key:
                held.update(cachedMsgCount=0, transactionMsgCount=1)
                held.update(transactionMsgMinOffset=8, transactionMsgMaxOffset=8)
                held["lastConsumeTimestamp"] = held["lastPullTimestamp"] - 5_000
                held["lastPullTimestamp"] += 2_000 * look

    behind = offset(lambda _look: 8)
    report = diagnosed(RECORDED, ALIKE, *orderly(locked=True), *behind, by_look(307, one_in_hand), looks=17)
    assert codes(report) == {"RC0601"}
    (finding,) = report.findings
    assert "holds 1 message of" in finding.sentence


@pytest.mark.parametrize(("fails", "found"), [(False, "RC0601"), (True, "RC0501")])
def test_a_listener_that_has_just_begun_to_hang_is_looked_at_until_it_is_known(
    fails: bool, found: str
) -> None:
    """At 27 s the offset has stopped, and the listener has not hung for 30 s yet."""

    def hangs(document: Any, look: int) -> None:
        if fails:
            document["statusTable"].update({"topic-1": {"consumeFailedTPS": 2.0}})
        document["properties"]["PROP_CONSUMEORDERLY"] = str(fails).lower()
        for key, held in document["mqTable"].items():
            held["locked"] = True
            if "%" not in key and '"queueId": 0' in key:
                held.update(cachedMsgCount=1, cachedMsgMinOffset=8, cachedMsgMaxOffset=8)
                held["lastConsumeTimestamp"] = held["lastPullTimestamp"] + 2_000 * look * fails
                held["lastPullTimestamp"] += 2_000 * look

    for looks in (14, 17):
        report = diagnosed(RECORDED, ALIKE, *offset(lambda _look: 8), by_look(307, hangs), looks=looks)
        assert codes(report) == ({found} if looks == 17 or fails else set())


@pytest.mark.parametrize(("since", "known"), [(0, True), (6, False)])
def test_a_message_that_all_looks_saw_in_hand_is_certainly_there(since: int, known: bool) -> None:
    """The member was idle before; the message was stored a moment before the first look, or at a later one."""

    def hangs(document: Any, look: int) -> None:
        for key, held in document["mqTable"].items():
            if "%" not in key and '"queueId": 0' in key:
                there = look >= since
                held.update(
                    cachedMsgCount=int(there), cachedMsgMinOffset=8 * there, cachedMsgMaxOffset=8 * there
                )
                held["lastConsumeTimestamp"] = held["lastPullTimestamp"] - 20_000

    def stored(item: Exchange) -> Exchange:
        if item.code != 202 or "%" in item.fields["topic"]:
            return item
        document = item.document
        for queue in document["offsetTable"].values():
            queue["lastUpdateTimestamp"] = item.at_ms - 1_000 - 2_000 * max(0, item.look - since)
        return replace(item, body=json.dumps(document))

    behind = (*offset(lambda _look: 8), by_look(307, hangs), each(stored))
    report = diagnosed(RECORDED, ALIKE, *behind, looks=14)
    assert ("RC0601" in codes(report)) is known
    assert "RC0601" in (codes(report) if known else {item.check.code for item in report.undetermined})


def test_a_listener_that_begins_to_hang_during_a_watch_is_found() -> None:
    def hangs(document: Any, look: int) -> None:
        for key, held in document["mqTable"].items():
            if "%" not in key and '"queueId": 0' in key:
                oldest = min(8, look)
                held.update(cachedMsgCount=1, cachedMsgMinOffset=oldest, cachedMsgMaxOffset=oldest)
                held["lastConsumeTimestamp"] = held["lastPullTimestamp"] + 2_000 * oldest
                held["lastPullTimestamp"] += 2_000 * look

    behind = (*offset(lambda look: min(8, look)), by_look(307, hangs))
    assert "RC0601" in codes(diagnosed(RECORDED, ALIKE, *behind, looks=28))
    assert "RC0601" not in codes(diagnosed(RECORDED, ALIKE, *behind, looks=18))


def test_members_of_other_strategies_that_also_want_other_tags_have_the_scenario_of_those() -> None:
    """Measured: the messages for which it waits are filtered, and the run is inconclusive."""
    other = client_property(
        STRATEGY, "x.AllocateMessageQueueAveragely@1", "x.AllocateMessageQueueAveragelyByCircle@2"
    )
    for wanted, has_none in ((wants("tagA", "tagB"), True), (ALIKE, False)):
        report = diagnosed(RECORDED, wanted, other)
        (finding,) = [item for item in report.findings if item.check.code == "RC0207"]
        assert ("RC0101 has the scenario" in str(written(report.views[finding.group], finding))) is has_none


def test_different_strategies_matter_to_a_topic_that_members_of_both_want() -> None:
    """Measured on 5.1.4: of members with different topics the scenario waited for two owners of a queue."""
    other = client_property(
        STRATEGY, "x.AllocateMessageQueueAveragely@1", "x.AllocateMessageQueueAveragelyByCircle@2"
    )
    for changes, level, effect in (
        ((other, (307, other_topic)), Level.WARNING, "only the retry topic in common"),
        ((other, ALIKE), Level.ERROR, "Some queues get two owners"),
    ):
        report = diagnosed(RECORDED, *changes)
        (finding,) = [item for item in report.findings if item.check.code == "RC0207"]
        assert finding.level is level
        assert effect in finding.effect
        documents = written(report.views[finding.group], finding)
        assert ("RC0106 has the scenario" in str(documents)) is (level is Level.WARNING)


def test_a_strategy_that_can_t_be_recomputed_is_not_said_to_share_out_alike() -> None:
    for name, said in (
        ("AllocateMachineRoomNearby", "how AllocateMachineRoomNearby shares out depends"),
        (None, ""),
    ):
        other = f"x.{name or 'AllocateMessageQueueAveragelyByCircle'}@2"
        changed = client_property(STRATEGY, "x.AllocateMessageQueueAveragely@1", other)
        report = diagnosed(RECORDED, ALIKE, changed)
        (finding,) = [item for item in report.findings if item.check.code == "RC0207"]
        documents = written(report.views[finding.group], finding)
        assert documents.startswith(said) if isinstance(documents, str) else not said


def test_limits_of_retries_are_compared_where_they_decide_something() -> None:
    other_limits = client_property("maxReconsumeTimes", "3", "-1")
    assert codes(diagnosed(RECORDED, ALIKE, other_limits)) == {"RC0218"}
    # Orderly members retry without a limit by default; one that pulls by itself retries nothing.
    either = client_property("PROP_CONSUMEORDERLY", "true", "false")
    by_default = client_property("maxReconsumeTimes", "-1")
    assert "RC0218" not in codes(diagnosed(RECORDED, ALIKE, either, by_default))
    pulls = client_property("PROP_CONSUME_TYPE", "CONSUME_PASSIVELY", "CONSUME_ACTIVELY")
    assert "RC0218" not in codes(diagnosed(RECORDED, ALIKE, pulls, other_limits))
    # RC0703 says what is wrong.
    assert codes(diagnosed(RECORDED, ALIKE, client_property("maxReconsumeTimes", "0", "16"))) == {"RC0703"}


def test_a_listener_that_got_its_message_late_is_looked_at_until_it_is_known_to_hang() -> None:
    """An orderly member gets its queue's lock up to 20 s late: at 28 s it has hung for 8 s."""

    def hangs(document: Any, look: int) -> None:
        for key, held in document["mqTable"].items():
            came = "%" not in key and '"queueId": 0' in key and look >= 10
            held.update(cachedMsgCount=int(came), cachedMsgMinOffset=8, cachedMsgMaxOffset=8)
            held["lastConsumeTimestamp"] = held["lastPullTimestamp"] + 2_000 * 10
            held["lastPullTimestamp"] += 2_000 * look

    changes: Any = (ALIKE, *orderly(locked=True), *offset(lambda _look: 8), by_look(307, hangs))
    undecided, known = (diagnosed(RECORDED, *changes, looks=looks) for looks in (17, 27))
    assert (codes(undecided), unknown(undecided)) == (set(), {"RC0501"})
    assert codes(known) == {"RC0601"}


def _refused_until(heartbeat: int) -> tuple[Any, ...]:
    """The broker holds an older subscription than the members have, until a look; then their offsets move."""

    def stored(document: Any, look: int) -> None:
        for item in document["subscriptionTable"].values():
            item["subVersion"] = 1 if look < heartbeat else item["subVersion"]

    return (*offset(lambda look: 1 if look <= heartbeat else 9), by_look(203, stored))


@pytest.mark.parametrize("name", ["mismatch-4.9.4.json", "mismatch-5.5.0.json"])
def test_pulls_that_are_refused_until_the_next_heartbeat_are_no_error(name: str) -> None:
    """Pulls with a newer subscription than the broker's are refused; a heartbeat comes every 30 s."""
    for looks in (1, 14, 15):
        report = diagnosed(name, ALIKE, *_refused_until(14), looks=looks)
        assert (codes(report), unknown(report)) == (set(), {"RC0501"})
        (reason,) = [item.reason for item in report.undetermined if item.check.code == "RC0501"]
        assert ("refuses pulls of a newer one" in reason) is (looks < 15)
    report = diagnosed(name, ALIKE, *_refused_until(14), looks=17)
    assert not codes(report) | unknown(report)


def test_pulls_that_no_heartbeat_comes_for_are_an_error_with_its_reason() -> None:
    report = diagnosed(RECORDED, ALIKE, *_refused_until(99), looks=30)
    (finding,) = report.findings
    assert (finding.check.code, finding.level) == ("RC0501", Level.ERROR)
    assert (
        "broker-1 holds an older subscription than that of host-2@instance-1, and refuses" in finding.sentence
    )
