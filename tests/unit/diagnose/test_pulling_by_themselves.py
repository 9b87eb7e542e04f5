"""Members that pull by themselves: they choose queues, pause them, or don't poll (DefaultLitePullConsumer)."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.harness.diagnose.finding import Level
from tests.unit.diagnose.broker_edits import not_held, offset
from tests.unit.diagnose.member_edits import (
    ALIKE,
    client_property,
    listener,
    pulling,
    with_queue,
    without_queue,
)
from tests.unit.diagnose.planted import PLANTED
from tests.unit.diagnose.reports import Change, by_look, codes, diagnosed, unknown

RECORDED = "mismatch-4.9.4.json"
BY_THEMSELVES = client_property("PROP_CONSUME_TYPE", "CONSUME_ACTIVELY")


def _assigned(*queues: int) -> tuple[Change, ...]:
    """Both members subscribe to nothing, and have these queues."""

    def change(document: Any) -> None:
        table = document["mqTable"]
        document["subscriptionSet"] = []
        for queue in range(4):
            (with_queue if queue in queues else without_queue)(table, queue)

    return BY_THEMSELVES, (307, change), (203, not_held)


def test_queues_that_two_members_chose_are_told_and_those_that_none_chose_are_not_called_fine() -> None:
    """Measured on 5.5.0: queues 0 and 1 were read twice, 9 messages of queue 3 by nobody, and all was fine."""

    def more(document: Any, _look: int) -> None:
        for key, item in document["offsetTable"].items():
            if '"queueId": 3' in key and "%" not in key:
                item["maxOffset"] += 9

    report = diagnosed(RECORDED, *_assigned(0, 1), by_look(202, more), looks=16)
    (finding,) = report.findings
    assert (finding.check.code, finding.level) == ("RC0302", Level.WARNING)
    assert "(assign()), and chose the same: broker-1 0 and 1" in finding.sentence
    (left_out,) = [item for item in report.undetermined if item.check.code == "RC0301"]
    assert "9 messages wait in broker-1 3, which" in left_out.reason
    assert "RC0301" not in {item.check.code for item in report.ruled_out}


def test_members_that_choose_queues_and_do_not_report_them_may_have_the_same() -> None:
    """As clients of 4.9.4."""
    report = diagnosed(RECORDED, *_assigned(), (307, lambda document: document["mqTable"].clear()))
    assert not {"RC0301", "RC0302", "RC0303"} & {item.check.code for item in report.ruled_out}


def test_queues_without_messages_may_be_left_out() -> None:
    report = diagnosed(RECORDED, *_assigned(0, 1))
    assert "RC0301" not in unknown(report)


@pytest.mark.parametrize("by_itself", [True, False])
def test_an_application_that_does_not_poll_is_no_listener_that_hangs(by_itself: bool) -> None:
    changes = (BY_THEMSELVES,) if by_itself else ()
    report = diagnosed(RECORDED, ALIKE, *changes, listener(1))
    found = [item for item in report.findings if item.check.code == "RC0601"]
    assert found
    for finding in found:
        assert ("its application has polled none" in finding.sentence) is by_itself
        assert ("until the application polls" in finding.effect) is by_itself


@pytest.mark.parametrize(("subscribes", "found"), [(True, set()), (False, {"RC0216"})])
def test_a_lite_pull_consumer_that_subscribes_shares_out_queues(subscribes: bool, found: set[str]) -> None:
    """One of 4.9.7 reports no queues; where the application calls `assign()`, it has no subscription either."""

    def assigned(document: Any) -> None:
        if document["properties"]["PROP_CONSUME_TYPE"] == "CONSUME_ACTIVELY":
            document["subscriptionSet"] = []

    lite = (pulling("CONSUME_ACTIVELY"), client_property("autoCommit", "true"))
    report = diagnosed(RECORDED, ALIKE, *lite, *(() if subscribes else ((307, assigned),)))
    assert codes(report) & {"RC0216"} == found


@pytest.mark.parametrize(
    ("every_ms", "got_ms_ago", "level"),
    [(0, 60_000, Level.WARNING), (1_000, 60_000, Level.ERROR), (0, 10, Level.ERROR)],
    ids=["paused", "fails", "pulled-by-the-application"],
)
def test_a_paused_queue_is_one_for_which_no_pull_is_tried(
    every_ms: int, got_ms_ago: int, level: Level
) -> None:
    """Measured on 5.5.0: `pause()` leaves the time of the last pull as it is; an exception doesn't."""
    assert _levels_of_stopped(every_ms, got_ms_ago) == {level}


def test_a_queue_that_was_paused_before_its_first_pull_is_no_error() -> None:
    """Only DefaultLitePullConsumer has autoCommit, and it sets the time before each pull that it tries."""
    lite = client_property("autoCommit", "true")
    assert _levels_of_stopped(0, 10, lite) == {Level.WARNING}
    assert _levels_of_stopped(1_000, 10, lite) == {Level.ERROR}


def _levels_of_stopped(every_ms: int, got_ms_ago: int, *changes: Change) -> set[Level]:
    """Of RC0501, where the time of the last pull moves by so much from look to look."""

    def tried(document: Any, look: int) -> None:
        for held in document["mqTable"].values():
            held.update(cachedMsgCount=0, lastLockTimestamp=held["lastPullTimestamp"] - got_ms_ago)
            held["lastPullTimestamp"] += every_ms * look

    stands = offset(lambda _look: 1)
    report = diagnosed(RECORDED, ALIKE, BY_THEMSELVES, *changes, *stands, by_look(307, tried), looks=17)
    assert codes(report) == {"RC0501"}
    return {item.level for item in report.findings}


@pytest.mark.parametrize("filtered", [True, False])
def test_messages_that_nobody_wants_wait_for_no_member_that_does_not_report_its_queues(
    filtered: bool,
) -> None:
    """As lite pull clients of 4.9.4, with a few messages of another tag at the end of their queues."""
    (planted,) = [item for item in PLANTED if item.code == "RC0507"]
    changes = planted.changes if filtered else planted.near
    quiet = (BY_THEMSELVES, (307, lambda document: document["mqTable"].clear()))
    report = diagnosed(RECORDED, ALIKE, *changes, *quiet)
    assert ("RC0507" in codes(report)) is filtered
    assert ("RC0301" in unknown(report)) is not filtered
