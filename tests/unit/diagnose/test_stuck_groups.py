"""Listeners that hang, offsets that stand still, and retries: recorded answers in which one thing was changed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from rocketchaos.harness.diagnose.checks import CHECKS
from rocketchaos.harness.diagnose.diagnosis import Report, Unsettled
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Level, Unknown
from tests.unit.diagnose.broker_edits import (
    V5,
    no_group,
    offset,
    retry_end,
    settings,
)
from tests.unit.diagnose.member_edits import ALIKE, FIRST, OTHER, languages
from tests.unit.diagnose.planted import PLANTED
from tests.unit.diagnose.reports import (
    Change,
    by_look,
    codes,
    diagnosed,
    diagnosis,
    each,
    unanswered,
    unknown,
)


def test_retries_that_are_taken_at_once_are_seen_by_their_time() -> None:
    def came(seconds_ago: int) -> Change:
        def change(exchange: Exchange) -> Exchange:
            if exchange.code != 202 or not exchange.fields["topic"].startswith("%RETRY%"):
                return exchange
            document = exchange.document
            for item in document["offsetTable"].values():
                item.update(lastUpdateTimestamp=exchange.at_ms - 1000 * seconds_ago)
            return replace(exchange, body=json.dumps(document))

        return each(change)

    assert codes(diagnosed("mismatch-4.9.4.json", ALIKE, came(20))) == {"RC0701"}
    assert codes(diagnosed("mismatch-4.9.4.json", ALIKE, came(2000))) == set()


def test_a_listener_that_hangs_is_reported_once_for_all_its_queues() -> None:
    (planted,) = [item for item in PLANTED if item.code == "RC0601"]
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *planted.changes)
    assert [item.sentence.partition(", and")[0] for item in report.findings if item.topic == "topic-1"] == [
        f"{FIRST} holds 4 messages of broker-1 0 and 1",
        f"{OTHER} holds 4 messages of broker-1 2 and 3",
    ]


def test_retries_wait_for_nobody_where_a_proxy_may_have_the_members() -> None:
    def retried(*changes: Any) -> Any:
        report = diagnosed("mismatch-4.9.4.json", *changes, unanswered(203, 206), retry_end(3), looks=3)
        return next(item for item in report.findings if item.check.code == "RC0701")

    assert "wait for a member to come online" in retried().sentence
    unasked = retried(V5)
    assert "wait, and no broker that was asked knows a member" in unasked.sentence
    assert "`--proxy`" in unasked.effect


@pytest.mark.parametrize("key", ["aclEnable", "authorizationEnabled"])
def test_brokers_that_check_permissions_do_not_know_members_that_lack_one(key: str) -> None:
    offline = unanswered(203, 206)
    checked = diagnosed("mismatch-4.9.4.json", offline, settings(**{key: "true"}))
    reasons = [item.reason for item in checked.undetermined if item.check.code == "RC0210"]
    assert ["permissions are checked by broker-1" in reason for reason in reasons] == [True]
    open_to_all = diagnosed("mismatch-4.9.4.json", offline, settings(**{key: "false"}))
    assert "permissions" not in str([item.reason for item in open_to_all.undetermined])


@pytest.mark.parametrize(("version", "told"), [("4.9.4", False), ("5.5.0", True)])
def test_a_broker_of_5_ignores_members_of_a_group_that_it_lacks(version: str, told: bool) -> None:
    changes = unanswered(203, 206), (201, no_group), settings(autoCreateSubscriptionGroup="false")
    report = diagnosed(f"mismatch-{version}.json", *changes)
    (reason,) = [item.reason for item in report.undetermined if item.check.code == "RC0210"]
    assert ("broker-1 doesn't have the group, and with autoCreateSubscriptionGroup false" in reason) is told


def _busy(orderly: bool, since_ms: int) -> Change:
    """Members with 30 messages of each queue in hand, of which the newest was finished so long ago."""

    def change(document: Any, look: int) -> None:
        document["properties"]["PROP_CONSUMEORDERLY"] = str(orderly).lower()
        document["properties"]["PROP_THREADPOOL_CORE_SIZE"] = "20"
        for number, item in enumerate(document["mqTable"].values()):
            item.update(cachedMsgCount=30, cachedMsgMinOffset=1, cachedMsgMaxOffset=30, locked=True)
            item["lastPullTimestamp"] += 2_000 * look
            since = since_ms + (0 if orderly else 60_000 * number)
            item["lastConsumeTimestamp"] = item["lastPullTimestamp"] - since

    return by_look(307, change)


def test_a_slow_listener_finishes_messages_of_other_queues() -> None:
    report = diagnosed("mismatch-4.9.4.json", ALIKE, _busy(orderly=False, since_ms=20_000))
    assert "RC0601" not in codes(report)
    stuck = diagnosed("mismatch-4.9.4.json", ALIKE, _busy(orderly=False, since_ms=40_000))
    durations = {item.sentence.partition("finished none for ")[2] for item in stuck.findings}
    assert durations == {"40 s"}


def test_an_orderly_listener_that_fails_blocks_queues_however_many_messages_it_has() -> None:
    stands = offset(lambda _look: 1, lambda _look: 31)
    busy = _busy(orderly=True, since_ms=0)
    assert codes(diagnosed("mismatch-4.9.4.json", ALIKE, busy, *stands, looks=17)) == {"RC0501"}
    concurrent = _busy(orderly=False, since_ms=0)
    assert "RC0501" not in codes(diagnosed("mismatch-4.9.4.json", ALIKE, concurrent, *stands, looks=17))


@pytest.mark.parametrize(("locked_since", "found"), [(0, {"RC0501"}), (14, set())])
def test_an_orderly_member_that_waited_for_its_lock_has_not_stopped(
    locked_since: int, found: set[str]
) -> None:
    def change(document: Any, look: int) -> None:
        document["properties"]["PROP_CONSUMEORDERLY"] = "true"
        for item in document["mqTable"].values():
            item["locked"] = look >= locked_since

    stands = offset(lambda _look: 1)
    report = diagnosed("mismatch-4.9.4.json", ALIKE, by_look(307, change), *stands, looks=17)
    assert codes(report) == found


def test_a_member_that_pulls_once_a_minute_has_not_stopped() -> None:
    slowly = 307, lambda document: document["properties"].update(pullInterval="60000")
    report = diagnosed("mismatch-4.9.4.json", ALIKE, slowly, *offset(lambda _look: 1), looks=17)
    assert codes(report) == set()
    assert [item.reason.rpartition(": ")[2] for item in report.undetermined] == [
        "its owner pulls every 60 s (pullInterval)"
    ]


def test_of_a_group_without_members_it_is_reported_how_far_it_is_behind() -> None:
    behind = offset(lambda _look: 1)
    report = diagnosed("mismatch-4.9.4.json", unanswered(203, 206), *behind, topics=("topic-1",))
    (unknown_,) = [item for item in report.undetermined if item.check.code == "RC0210"]
    assert "messages of topic-1 behind" in unknown_.reason


@pytest.mark.parametrize(("moves", "later", "is_found"), [(0, 50, True), (1, 50, False), (0, 15, False)])
def test_one_thread_that_hangs_is_reported_though_others_finish_messages(
    moves: int, later: int, is_found: bool
) -> None:
    """The offset of the oldest message, which stays or moves from look to look; the last one was finished now."""

    def held(document: Any, look: int) -> None:
        for item in document["mqTable"].values():
            oldest = 5 + moves * look
            item.update(cachedMsgCount=1, cachedMsgMinOffset=oldest, commitOffset=oldest)
            item["lastConsumeTimestamp"] = item["lastPullTimestamp"]

    def stored(document: Any, look: int) -> None:
        for key, item in document["offsetTable"].items():
            if "%" not in key:
                item["maxOffset"] = 6 + later + moves * look

    changes = (by_look(307, held), by_look(202, stored))
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *changes, looks=15)
    found = [item for item in report.findings if item.check.code == "RC0601" and item.topic == "topic-1"]
    assert bool(found) is is_found
    assert "RC0601" not in unknown(report)
    if found:
        assert {item.check.code for item in report.findings} == {"RC0601"}  # and not RC0501 as well
        assert f"keeps offset 5 of broker-1 0; {later} later messages are stored" in found[0].sentence


def test_a_member_that_was_idle_for_long_and_has_just_got_a_message_does_not_hang() -> None:
    """A member tells when it last finished a message, not since when it has the one in its hands."""

    def held(document: Any, look: int) -> None:
        for item in document["mqTable"].values():
            item.update(cachedMsgCount=1 - look, cachedMsgMinOffset=3)
            item["lastConsumeTimestamp"] = item["lastPullTimestamp"] - 20 * 60_000

    def stored(exchange: Exchange) -> Exchange:
        document = exchange.document
        for item in document["offsetTable"].values() if exchange.code == 202 else ():
            item["lastUpdateTimestamp"] = exchange.at_ms - 1000
        return replace(exchange, body=json.dumps(document)) if exchange.code == 202 else exchange

    one, two = (
        diagnosed("mismatch-4.9.4.json", ALIKE, by_look(307, held), each(stored), looks=looks)
        for looks in (1, 2)
    )
    assert not {"RC0601", "RC0602"} & (codes(one) | codes(two) | unknown(two))
    assert "RC0601" in unknown(one)


def test_an_offset_that_does_not_move_is_found_without_a_watch_and_one_that_moves_is_fine_at_once() -> None:
    stands, moves = offset(lambda _look: 1), offset(lambda look: 1 + look)
    assert unknown(diagnosed("mismatch-4.9.4.json", ALIKE, *stands, looks=1)) == {"RC0501"}
    assert codes(diagnosed("mismatch-4.9.4.json", ALIKE, *stands, looks=14)) == {"RC0501"}
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *moves, looks=2)
    assert not codes(report) | unknown(report)


def test_an_offset_may_stand_still_while_its_queue_waits_for_an_owner() -> None:
    def unowned(exchange: Exchange) -> Exchange:
        if exchange.code != 307 or exchange.look > 5:
            return exchange
        document = exchange.document
        for key in [key for key in document["mqTable"] if "%" not in key and '"queueId": 0' in key]:
            del document["mqTable"][key]
        return replace(exchange, body=json.dumps(document))

    report = diagnosed("mismatch-4.9.4.json", ALIKE, *offset(lambda _look: 1), each(unowned), looks=16)
    assert "RC0501" not in codes(report)
    assert "RC0501" in unknown(report)


def _backlog(threads: str, others_finish: bool) -> Change:
    """Each member has 40 messages of each queue, and has finished none for a minute, except of its last queue."""

    def change(document: Any, look: int) -> None:
        document["properties"]["PROP_THREADPOOL_CORE_SIZE"] = threads
        *waiting, last = (held for key, held in document["mqTable"].items() if "%RETRY%" not in key)
        for held in (*waiting, last):
            held.update(cachedMsgCount=40, cachedMsgMinOffset=0, cachedMsgMaxOffset=39)
            held["lastPullTimestamp"] += 2_000 * look
            held["lastConsumeTimestamp"] = held["lastPullTimestamp"]
        for held in (*waiting, *([] if others_finish else [last])):
            held["lastConsumeTimestamp"] -= 60_000

    return by_look(307, change)


@pytest.mark.parametrize(
    ("threads", "others_finish", "found"), [("1", True, False), ("1", False, True), ("100", True, True)]
)
def test_messages_that_wait_for_a_thread_are_no_hanging_listener(
    threads: str, others_finish: bool, found: bool
) -> None:
    report = diagnosed(
        "mismatch-4.9.4.json",
        ALIKE,
        *offset(lambda _look: 1, lambda _look: 41),
        _backlog(threads, others_finish),
        looks=17,
    )
    assert ("RC0601" in codes(report)) is found
    assert "RC0501" not in codes(report)


def test_a_lag_that_has_only_begun_to_grow_is_looked_at_again() -> None:
    (planted,) = [item for item in PLANTED if item.code == "RC0504"]
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *planted.changes, looks=5)
    assert "RC0504" not in codes(report)
    assert "RC0504" in unknown(report)


def test_an_offset_that_stands_still_is_reported_with_what_its_owner_holds() -> None:
    (planted,) = [item for item in PLANTED if item.code == "RC0501"]
    (finding,) = diagnosed("mismatch-4.9.4.json", ALIKE, *planted.changes, looks=17).findings
    assert any(item.says.endswith("owns them, and holds 0 messages") for item in finding.evidence)


def test_a_dead_letter_topic_that_may_not_be_written_is_no_error() -> None:
    def change(exchange: Exchange) -> Exchange:
        if exchange.code != 105 or "%RETRY%" not in exchange.fields.get("topic", ""):
            return exchange
        fields = {**exchange.fields, "topic": exchange.fields["topic"].replace("%RETRY%", "%DLQ%")}
        return replace(exchange, fields=fields, body=exchange.body.replace('"perm": 6', '"perm": 4'))

    def add(exchanges: Any) -> Any:
        kept = [item for item in exchanges if "%DLQ%" not in item.fields.get("topic", "")]
        return [*kept, *(change(item) for item in kept if change(item) is not item)]

    (finding,) = diagnosed("mismatch-4.9.4.json", ALIKE, add).findings
    assert (finding.check.code, finding.level) == ("RC0404", Level.INFO)
    assert "still store dead letters" in finding.sentence


@pytest.mark.parametrize("served", [True, False])
def test_a_group_that_wants_messages_by_a_class_needs_a_filter_server(served: bool) -> None:
    """Its pulls fail after looking for one, once a second: that looks like a paused client."""

    def by_class(subscriptions: Iterable[Any]) -> None:
        for item in subscriptions:
            if "%RETRY%" not in item["topic"]:
                item.update(subString="com.example.Any", classFilterMode=True, tagsSet=[], codeSet=[])

    def tried(document: Any, look: int) -> None:
        for held in document["mqTable"].values():
            held.update(cachedMsgCount=0)
            held["lastPullTimestamp"] += 1_000 * look

    servers = {"host-1:10911": ["host-1:12000"] if served else []}
    report = diagnosed(
        "mismatch-4.9.4.json",
        ALIKE,
        *offset(lambda _look: 1),
        (307, lambda document: by_class(document["subscriptionSet"])),
        (203, lambda document: by_class(document["subscriptionTable"].values())),
        (105, lambda document: document.update(filterServerTable=servers)),
        by_look(307, tried),
        looks=17,
    )
    (finding,) = report.findings
    assert (finding.check.code, finding.level) == ("RC0501", Level.WARNING if served else Level.ERROR)
    assert ("the route has no filter server (mqfiltersrv)" in finding.sentence) is not served


@pytest.mark.parametrize(
    ("name", "changes", "again"),
    [
        ("mismatch-4.9.4.json", (), []),
        ("mismatch-4.9.4.json", (ALIKE,), ["RC0501"]),
        ("grpc-5.5.0.json", (unanswered(321, 1),), ["RC0501"]),
    ],
)
def test_an_offset_is_watched_only_where_members_want_the_same(
    name: str, changes: Sequence[Change], again: list[str]
) -> None:
    """Where they differ (RC0101), brokers and members drop messages, and offsets move up to 27 s late."""
    watched: list[str] = []

    def no_more_looks(_report: Report, unsettled: Unsettled) -> None:
        watched.extend(unsettled.codes)
        raise InterruptedError

    live = replace(diagnosis(name, *changes, *offset(lambda _look: 1)), recorded=None)
    live.on_early_answer = no_more_looks
    with suppress(InterruptedError):
        asyncio.run(live.run())
    assert watched == again


@pytest.mark.parametrize("untrue_ms", [7_867_069_265_082_982_039, -7_953_755_514_975_362_659, 0])
def test_a_client_of_cpp_that_has_finished_no_message_yet_tells_no_time(untrue_ms: int) -> None:
    def held(document: Any) -> None:
        started_ms = max(held["lastPullTimestamp"] for held in document["mqTable"].values()) - 40_000
        document["properties"].update(
            PROP_CONSUMER_START_TIMESTAMP=str(started_ms), PROP_THREADPOOL_CORE_SIZE="2"
        )
        for held in document["mqTable"].values():
            held.update(cachedMsgCount=25, lastConsumeTimestamp=untrue_ms, lastLockTimestamp=untrue_ms)

    stands = offset(lambda _look: 0)
    report = diagnosed("mismatch-4.9.4.json", ALIKE, languages("CPP", "CPP"), (307, held), *stands, looks=17)
    found = [item.sentence for item in report.findings if item.check.code == "RC0601"]
    assert {item.rpartition(" for ")[2] for item in found} == {"72 s"}  # 32 s after the first look
    assert "RC0501" not in codes(report)


@pytest.mark.parametrize("another_moves", [False, True])
def test_an_offset_of_grpc_members_that_stands_is_a_warning_unless_another_moves(another_moves: bool) -> None:
    def moved(document: Any, look: int) -> None:
        document["offsetTable"]["topic-1@group-1"]["1"] = look // 8 if another_moves else 4

    changes: Any = (unanswered(321, 1), *offset(lambda _look: 1), by_look(43, moved))
    report = diagnosed("grpc-5.5.0.json", *changes, looks=17)
    levels = [item.level for item in report.findings if item.check.code == "RC0501"]
    assert levels == ([] if another_moves else [Level.WARNING])
    assert ("RC0501" in unknown(report)) is another_moves


def test_a_look_in_which_a_member_tells_nothing_does_not_hide_that_an_offset_stands() -> None:
    def now_and_then(document: Any, look: int) -> Any:
        if look in (3, 4):
            document.clear()

    changes: Any = (ALIKE, languages("GO", "GO"), *offset(lambda _look: 1), by_look(307, now_and_then))
    report = diagnosed("mismatch-4.9.4.json", *changes, looks=17)
    assert "RC0501" in codes(report)


def test_an_offset_that_is_known_later_is_watched_for_longer() -> None:
    def without(document: Any, look: int) -> None:
        if look < 2:
            document["offsetTable"] = {}
            for held in document.get("mqTable", {}).values():
                held["commitOffset"] = -1

    changes: Any = (ALIKE, *offset(lambda _look: 1), by_look(43, without), by_look(307, without))
    (view,) = diagnosed("mismatch-4.9.4.json", *changes, looks=6).views.values()
    of_group = CHECKS["RC0501"].of_group
    assert of_group is not None
    assert [item.for_s for item in of_group(view) if isinstance(item, Unknown)] == [29.0]
