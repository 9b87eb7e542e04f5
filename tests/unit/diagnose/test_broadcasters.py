"""Members that broadcast keep their own offsets: what they lack, and what brokers still store of the group."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.harness.diagnose.diagnosis import Report
from rocketchaos.harness.diagnose.finding import Finding, Level
from rocketchaos.harness.diagnose.reproduction import written
from tests.unit.diagnose.broker_edits import ends, offset, retry_end, route_fields
from tests.unit.diagnose.member_edits import ALIKE, client_property, held_queues, is_other, listener, wants
from tests.unit.diagnose.reports import Change, by_look, codes, diagnosed, unknown

RECORDED = "mismatch-4.9.4.json"
BROADCASTS = client_property("messageModel", "BROADCASTING")


def _own(first: int, step: int, cached: int = 0) -> Change:
    """The own offset of the second member in queue 0, at the first look and from look to look; the others have
    reached the end. The queue ends at 400."""

    def change(document: Any, look: int) -> None:
        for key, held in document["mqTable"].items():
            behind = is_other(document) and "%" not in key and '"queueId": 3' in key
            held["commitOffset"] = first + step * look if behind else 400
            held["cachedMsgCount"] = cached if behind else 0

    return by_look(307, change)


def _one(report: Report, code: str) -> Finding:
    (found,) = (item for item in report.findings if item.check.code == code)
    return found


def test_a_member_that_broadcasts_and_takes_nothing_is_found() -> None:
    """Measured on 4.9.4 with `suspend()`: nothing was found, and 118 messages waited for the member."""
    report = diagnosed(RECORDED, ALIKE, BROADCASTS, ends(minOffset=0, maxOffset=400), _own(7, 0), looks=17)
    found = _one(report, "RC0501")
    assert codes(report) == {"RC0501"}
    assert (found.level, found.effect.split(".")[0]) == (Level.WARNING, "These messages wait for this member")
    assert "393 messages behind" in found.sentence
    assert "offsets" in str(written(report.views[found.group], found))


@pytest.mark.parametrize(
    ("first", "step", "cached", "looks"), [(7, 1, 0, 17), (400, 0, 0, 17), (-1, 0, 0, 17), (7, 0, 5, 17)]
)
def test_one_that_gets_on_is_not(first: int, step: int, cached: int, looks: int) -> None:
    """Also one without an offset of its own, and one whose listener has messages: that is told by RC0601."""
    changes = (ALIKE, BROADCASTS, ends(minOffset=0, maxOffset=400), _own(first, step, cached))
    report = diagnosed(RECORDED, *changes, looks=looks)
    assert "RC0501" not in codes(report) | unknown(report)


@pytest.mark.parametrize("own", [7, -1])
def test_an_orderly_listener_that_broadcasts_and_keeps_failing_is_found(own: int) -> None:
    """It gets the same message again and again, without a limit: it doesn't hang, and nothing is sent back.

    Measured on 5.5.0: one that has finished none has no offset of its own (-1).
    """

    def fails(document: Any) -> None:
        document["statusTable"] = {"topic-1": {"consumeOKTPS": 0, "consumeFailedTPS": 1}}
        document["properties"]["PROP_CONSUMEORDERLY"] = "true"

    changes = (ALIKE, BROADCASTS, ends(minOffset=0, maxOffset=400), _own(own, 0, 5), (307, fails))
    found = _one(diagnosed(RECORDED, *changes, looks=17), "RC0501")
    assert found.level is Level.ERROR
    assert "its orderly listener keeps failing" in found.sentence


def test_one_look_does_not_show_it() -> None:
    report = diagnosed(RECORDED, ALIKE, BROADCASTS, ends(minOffset=0, maxOffset=400), _own(7, 0))
    assert (codes(report), unknown(report)) == (set(), {"RC0501"})


def test_one_that_falls_behind_is_found() -> None:
    """The queue grows by 10 from look to look, and the member's offset by 1."""

    def grows(document: Any, look: int) -> None:
        for key, item in document.get("offsetTable", {}).items():
            item["maxOffset"] = item["maxOffset"] if "%" in key else 400 + 10 * look

    report = diagnosed(RECORDED, ALIKE, BROADCASTS, _own(7, 1, 5), by_look(202, grows), looks=17)
    assert "its own lag never fell" in _one(report, "RC0504").sentence


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ((*offset(lambda _look: 1), ends(minOffset=3)), "RC0505"),
        (offset(lambda _look: 100), "RC0506"),
        (offset(lambda look: 8 - look), "RC0503"),
    ],
)
def test_offsets_of_times_in_which_the_group_clustered_accuse_nobody(
    changes: tuple[Change, ...], code: str
) -> None:
    assert code in codes(diagnosed(RECORDED, ALIKE, *changes, looks=3))
    at_the_end = held_queues(commitOffset=9)
    report = diagnosed(RECORDED, ALIKE, *changes, BROADCASTS, at_the_end, looks=3)
    assert code not in codes(report)
    assert code not in {item.check.code for item in report.ruled_out}


def test_retries_of_members_that_broadcast_come_to_nobody() -> None:
    """Measured on 4.9.4 after consumeTimeout: they were told to come again."""
    clustering = _one(diagnosed(RECORDED, ALIKE, retry_end(12), looks=4), "RC0701")
    broadcasting = _one(diagnosed(RECORDED, ALIKE, retry_end(12), BROADCASTS, looks=4), "RC0701")
    assert "They come again" in clustering.effect
    assert "12 retries are stored, and no member reads them" in broadcasting.sentence
    assert "They come to nobody" in broadcasting.effect


@pytest.mark.parametrize(
    ("minutes", "code", "clustering", "broadcasting"),
    [
        (1, "RC0601", "The group's offset stays", "Only this member"),
        (20, "RC0602", "", "no member that broadcasts reads"),
    ],
)
def test_what_follows_from_a_listener_that_hangs_is_about_its_member(
    minutes: float, code: str, clustering: str, broadcasting: str
) -> None:
    hangs = (ALIKE, listener(minutes))
    assert clustering in _first(diagnosed(RECORDED, *hangs, looks=17), code).effect
    found = diagnosed(RECORDED, *hangs, BROADCASTS, looks=17)
    assert broadcasting in _first(found, code).effect
    assert isinstance(written(found.views["group-1"], _first(found, code)), str)


def _first(report: Report, code: str) -> Finding:
    return next(item for item in report.findings if item.check.code == code)


def test_how_much_waits_on_a_closed_broker_is_unknown_of_members_that_broadcast() -> None:
    """Seen on 5.5.0: what they had handled before `updateTopicPerm -p 2` was said to wait."""
    closed = (ALIKE, route_fields(perm=2), *offset(lambda _look: 4))
    waits = _of_topic(diagnosed(RECORDED, *closed))
    assert "wait there now" in waits.effect
    assert waits.messages
    of_broadcasting = _of_topic(diagnosed(RECORDED, *closed, BROADCASTS))
    assert "keep their own offsets" in of_broadcasting.effect
    assert not of_broadcasting.messages


def _of_topic(report: Report) -> Finding:
    """That the topic may not be read, not its retry topic."""
    (found,) = (item for item in report.findings if item.check.code == "RC0404" and item.topic == "topic-1")
    return found


@pytest.mark.parametrize(("first", "second"), [("tagA", "*"), ("tagA", "tagB")])
def test_members_that_broadcast_and_pull_by_themselves_have_all_queues(first: str, second: str) -> None:
    """Measured on 4.9.4: each DefaultLitePullConsumer got all that it wants, by its pulls' own expression."""

    def lite(document: Any) -> None:
        document["properties"].update(
            messageModel="BROADCASTING", PROP_CONSUME_TYPE="CONSUME_ACTIVELY", autoCommit="true"
        )
        document["mqTable"] = {}

    report = diagnosed("mismatch-4.9.4.json", wants(first, second), (307, lite))
    finding = next(item for item in report.findings if item.check.code == "RC0101")
    assert "none is lost so far" in finding.effect
    assert isinstance(written(report.views[finding.group], finding), str)
