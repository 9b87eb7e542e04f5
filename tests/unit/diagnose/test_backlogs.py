"""What brokers keep back: delayed messages and undecided transactions."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rocketchaos.harness.diagnose.backlogs import last_handled
from rocketchaos.harness.diagnose.collect import Scope
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.model import REVIVE, REVIVING, Look
from rocketchaos.harness.diagnose.pseudonyms import Pseudonyms
from tests.unit.diagnose.broker_edits import V5, settings
from tests.unit.diagnose.member_edits import ALIKE
from tests.unit.diagnose.reports import codes, delayed, diagnosed, each, timed, undecided, unknown

RECORDED = "mismatch-4.9.4.json"


def test_an_overdue_message_may_be_on_its_way() -> None:
    report = diagnosed(RECORDED, ALIKE, delayed(-600_000), looks=2)
    assert "RC0811" in unknown(report) - codes(report)


def test_the_delay_of_a_level_is_the_brokers_own() -> None:
    changed = settings(messageDelayLevel="1s 5s 7m")
    (finding,) = diagnosed(RECORDED, ALIKE, delayed(60_000), changed).findings
    assert (finding.check.code, finding.level) == ("RC0812", Level.INFO)
    assert "3 of level 3 (7m), the first one until " in finding.sentence


def test_a_level_that_was_taken_away_is_named() -> None:
    changed = settings(messageDelayLevel="1s 5s")
    (finding,) = diagnosed(RECORDED, ALIKE, delayed(-600_000), changed, looks=16).findings
    assert "of delay level 3, which its messageDelayLevel no longer has (`1s 5s`)" in finding.sentence


@pytest.mark.parametrize(
    ("age_s", "topic", "late_s", "expected"),
    [
        (300, "topic-1", 0, {"RC0811"}),
        (300, f"{REVIVE}cluster-1", 0, {"RC0814"}),
        (5, "topic-1", 0, set()),
        (5, "topic-1", 300, {"RC0811"}),
    ],
)
def test_a_timer_that_takes_nothing_or_is_late_is_found(
    age_s: int, topic: str, late_s: int, expected: set[str]
) -> None:
    changed = (V5, timed(1000 * age_s, topic=topic, late_s=late_s), settings(timerStopEnqueue="true"))
    report = diagnosed(RECORDED, ALIKE, *changed, looks=16)
    assert codes(report) - {"RC0812"} == expected
    stopped = [item.sentence for item in report.findings if "timerStopEnqueue is true" in item.sentence]
    assert len(stopped) == (age_s == 300)


@pytest.mark.parametrize(("value", "expected"), [("true", {"RC0814"}), ("false", set())])
def test_popped_messages_that_no_request_sees_are_not_ruled_out(value: str, expected: set[str]) -> None:
    report = diagnosed(RECORDED, ALIKE, V5, settings(popConsumerKVServiceEnable=value), looks=16)
    assert (codes(report), unknown(report)) == (set(), expected)


@pytest.mark.parametrize(("offset", "begin"), [(None, 0), (0, 1), (3, 4)])
def test_the_last_handled_entry_of_a_revive_queue_is_not_looked_at(offset: int | None, begin: int) -> None:
    """A broker stores the place of the last entry that it has handled, and an idle queue ends with it."""
    look = Look(0, 0)
    topic = f"{REVIVE}cluster-1"
    if offset is not None:
        look.offsets = {"broker-1": {REVIVING: {topic: {0: offset}}}}
    assert last_handled(look, topic, ("broker-1", 0)) + 1 == begin


def test_a_delay_is_over_by_the_brokers_clock() -> None:
    """Its clock is 10 min behind: what is due in a minute there was due long ago by this machine's."""

    def behind(item: Exchange) -> Exchange:
        if item.code != 28:
            return item
        table = item.document["table"]
        table["bootTimestamp"] = str(int(table["bootTimestamp"]) - 600_000)
        return replace(item, body=json.dumps({"table": table}))

    report = diagnosed(RECORDED, ALIKE, delayed(-540_000), each(behind), looks=16)
    assert codes(report) == {"RC0805", "RC0812"}


@pytest.mark.parametrize(
    ("checked", "connected", "age_s", "level"),
    [
        (0, True, 30, None),
        (0, True, 600, Level.WARNING),
        (1, False, 30, Level.ERROR),
        (2, True, 30, Level.WARNING),
    ],
)
def test_a_transaction_is_undecided_once_the_broker_has_asked(
    checked: int, connected: bool, age_s: int, level: Level | None
) -> None:
    change = undecided(checked, connected=connected, age_ms=1000 * age_s)
    report = diagnosed(RECORDED, ALIKE, change, looks=16)
    assert [item.level for item in report.findings] == ([] if level is None else [level])
    for finding in report.findings:
        assert "1 half message of topic-1 from producer group pg" in finding.sentence
        assert ("no member of pg is connected" in finding.sentence) is not connected


@pytest.mark.parametrize(("checked", "connected"), [(1, True), (0, False)])
def test_one_that_was_just_decided_stays_until_the_next_check(checked: int, connected: bool) -> None:
    report = diagnosed(RECORDED, ALIKE, undecided(checked, connected=connected))
    assert (codes(report), unknown(report)) == (set(), {"RC0813"})


def test_an_older_bundle_knows_nothing_of_them() -> None:
    older = [lambda exchanges: [item for item in exchanges if "topic" not in item.fields or item.code != 202]]
    report = diagnosed(RECORDED, ALIKE, *older)
    assert {"RC0811", "RC0813"} <= unknown(report)


def test_a_half_message_that_a_check_has_just_stored_again_is_one() -> None:
    (finding,) = diagnosed(
        "mismatch-4.9.4.json", ALIKE, undecided(2, connected=False, stored_again=True)
    ).findings
    assert "keeps 1 half message of topic-1" in finding.sentence
    assert "checked up to 2 times" in finding.sentence


def test_a_bundle_has_pseudonyms_in_half_messages_and_modes() -> None:
    half = {"topic": "shop", "producerGroup": "till", "checked": 2, "bornAt": 5, "storedAt": 6}
    mode = {"modes": [{"topic": "shop", "consumerGroup": "till", "mode": "POP"}]}
    delays = {"delayOffsets": {"3": 5}}
    answers = [
        Exchange(0, "h:1", code, {}, 0, answer_code=0, body=json.dumps(body))
        for code, body in ((33, half), (402, mode), (45, delays))
    ]
    redacted = Pseudonyms.of(Scope(("h:1",), None), answers)
    shown = [redacted.exchange(item).document for item in answers]
    assert shown[0] == {**half, "topic": "topic-1", "producerGroup": "group-1"}
    assert shown[1] == {"modes": [{"topic": "topic-1", "consumerGroup": "group-1", "mode": "POP"}]}
    assert shown[2] == delays
    asked = Exchange(0, "h:1", 202, {"topic": "SCHEDULE_TOPIC_XXXX"}, 0)
    assert redacted.exchange(asked).fields == asked.fields


@pytest.mark.parametrize("consumed", [True, False])
def test_transactions_of_a_topic_that_a_named_group_does_not_consume_are_none_of_its_faults(
    consumed: bool,
) -> None:
    def elsewhere(item: Exchange) -> Exchange:
        is_half = item.code == 33 and "producerGroup" in item.body
        return (
            item if consumed or not is_half else replace(item, body=item.body.replace("topic-1", "topic-7"))
        )

    (finding,) = diagnosed(
        "mismatch-4.9.4.json", ALIKE, undecided(1, connected=False), each(elsewhere)
    ).findings
    assert (finding.check.code, finding.level) == ("RC0813", Level.ERROR if consumed else Level.INFO)
    everything = (undecided(1, connected=False), each(elsewhere))
    (finding,) = diagnosed("mismatch-4.9.4.json", ALIKE, *everything, groups=None).findings
    assert finding.level is Level.ERROR
