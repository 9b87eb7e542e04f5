"""A watch tells what changes, and serves what it finds."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from rocketchaos.harness.diagnose.bundle import SELDOM_ASKED
from rocketchaos.harness.diagnose.changes import FindingChanges, changes
from rocketchaos.harness.diagnose.checks.points import Point, state, telling_end
from rocketchaos.harness.diagnose.collect import SETTINGS_EVERY
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.metrics import Metrics, lines
from rocketchaos.harness.diagnose.requests import GET_ALL_SUBSCRIPTIONGROUP_CONFIG
from tests.unit.diagnose.broker_edits import group_settings, no_group, offset, settings
from tests.unit.diagnose.member_edits import ALIKE, FIRST, listener, orderly, without_queue
from tests.unit.diagnose.reports import Edit, by_look, codes, diagnosed, each, unknown


def test_a_flip_is_reported_with_its_time_and_in_the_finding() -> None:
    report = diagnosed("mismatch-4.9.4.json", looks=2)
    (view,) = report.views.values()
    assert list(changes(view)) == []
    held = next(iter(view.now.stored[view.group].values()))
    flipped = {
        topic: replace(subscription, expression="tagC") if subscription.expression == "tagB" else subscription
        for topic, subscription in held.subscriptions.items()
    }
    view.now.stored[view.group]["broker-1"] = replace(held, subscriptions=flipped)
    (text,) = changes(view)
    assert "broker-1 held `tagB` for topic-1, and holds `tagC` now" in text


def test_another_text_of_the_same_meaning_is_called_so() -> None:
    def turned(document: Any, look: int) -> None:
        for item in document["subscriptionTable"].values():
            if "%" not in item["topic"]:
                item["subString"] = ("tagA||tagB", "tagB || tagA")[look]

    report = diagnosed("mismatch-4.9.4.json", ALIKE, by_look(203, turned), looks=2)
    (view,) = report.views.values()
    (text,) = changes(view)
    assert text.endswith("holds `tagB || tagA` now, which means the same")


def test_a_member_without_an_answer_is_not_said_to_own_nothing() -> None:
    def hangs_in_second_look(item: Exchange) -> Exchange:
        if item.code != 307 or not item.look or item.fields["clientId"] != FIRST:
            return item
        return replace(item, answer_code=None, body="", error="no answer within 2 s")

    report = diagnosed("mismatch-4.9.4.json", ALIKE, each(hangs_in_second_look), looks=2)
    (view,) = report.views.values()
    (text,) = changes(view)
    assert text.endswith(f"group group-1: {FIRST} doesn't answer")


def test_a_queue_that_the_route_has_lost_is_not_said_to_wait_for_an_owner() -> None:
    def shorter(document: Any, look: int) -> None:
        for item in document.get("queueDatas", ()) if look == SETTINGS_EVERY else ():
            item["readQueueNums"] = item["writeQueueNums"] = 3

    def without_it(document: Any, look: int) -> None:
        for queue in list(document["mqTable"]) if look == SETTINGS_EVERY else ():
            if json.loads(queue)["queueId"] == 3:
                del document["mqTable"][queue]

    report = diagnosed("mismatch-4.9.4.json", ALIKE, by_look(105, shorter), by_look(307, without_it), looks=7)
    (view,) = report.views.values()
    (text,) = changes(view)
    assert text.endswith("owned it, the route doesn't have it now")


def _silent_in(code: int, looks: Collection[int], **fields: str) -> Edit:
    def change(item: Exchange) -> Exchange:
        if item.code != code or item.look not in looks or not fields.items() <= item.fields.items():
            return item
        return replace(item, answer_code=None, body="", error="no connection")

    return each(change)


def test_a_broker_without_an_answer_is_not_said_to_hold_nothing() -> None:
    def turned(document: Any, look: int) -> None:
        for item in document["subscriptionTable"].values():
            if "%" not in item["topic"]:
                item["subString"] = "tagA" if look < 3 else "tagB"

    turns, silent = by_look(203, turned), _silent_in(203, (1, 2))
    texts = [
        [text for view in report.views.values() for text in changes(view)]
        for report in (diagnosed("mismatch-4.9.4.json", turns, silent, looks=looks) for looks in (2, 3, 4))
    ]
    assert [text for text in texts[0] + texts[1] if " held " in text] == []
    (text,) = (text for text in texts[2] if " held " in text)
    assert "broker-1 held `tagA` for topic-1, and holds `tagB` now" in text


def test_members_have_not_left_where_no_broker_says_who_is_online() -> None:
    silent = _silent_in(203, (1,))
    reports = (diagnosed("mismatch-4.9.4.json", ALIKE, silent, looks=looks) for looks in (2, 3))
    texts = [text for report in reports for view in report.views.values() for text in changes(view)]
    assert texts == []


def test_what_a_member_owns_after_its_silence_is_compared_with_what_it_owned_before() -> None:
    def without_a_queue(document: Any, look: int) -> None:
        if look == 2:
            document["mqTable"] = {key: held for key, held in document["mqTable"].items() if "%" in key}

    silent = _silent_in(307, (1,), clientId=FIRST)
    report = diagnosed("mismatch-4.9.4.json", ALIKE, by_look(307, without_a_queue), silent, looks=3)
    texts = [text for view in report.views.values() for text in changes(view)]
    assert any(f"of topic-1: {FIRST} owned it, no member owns it now" in text for text in texts)


def test_a_finding_is_reported_once_it_is_there_and_once_it_has_gone() -> None:
    sick, fine = diagnosed("mismatch-4.9.4.json"), diagnosed("mismatch-4.9.4.json", ALIKE)
    findings = FindingChanges()
    (text,) = findings.of(sick)
    assert (
        " error [RC0101] (group group-1, topic topic-1) members of one group subscribe differently: " in text
    )
    assert list(findings.of(sick)) == []
    (text,) = findings.of(fine)
    assert " no longer found: [RC0101] (group group-1, topic topic-1) " in text


def test_a_finding_that_has_a_lower_level_now_has_not_gone() -> None:
    """Measured on 5.4.0: RC0105 is a warning while a Go member beside a Java one doesn't tell what it wants."""
    sick = diagnosed("mismatch-4.9.4.json")
    milder = replace(sick, findings=tuple(replace(item, level=Level.INFO) for item in sick.findings))
    findings = FindingChanges()
    _, (text,), nothing = (list(findings.of(report)) for report in (sick, milder, milder))
    assert " info now: [RC0101] (group group-1, topic topic-1) " in text
    assert nothing == []


def test_a_finding_that_a_silent_member_may_hide_has_not_gone() -> None:
    sick, fine = diagnosed("mismatch-4.9.4.json"), diagnosed("mismatch-4.9.4.json", ALIKE)
    hidden = diagnosed("mismatch-4.9.4.json", _silent_in(307, (0,), clientId=FIRST))
    findings = FindingChanges()
    texts = [[text for text in findings.of(item) if "RC0101" in text] for item in (sick, hidden, hidden)]
    assert [len(of) for of in texts] == [1, 1, 0]
    assert " undetermined now: [RC0101] (group group-1, topic topic-1) " in texts[1][0]
    again, open_again, gone = (" ".join(findings.of(item)) for item in (sick, hidden, fine))
    assert " error [RC0101] " in again
    assert " undetermined now: [RC0101] " in open_again
    assert " no longer found: [RC0101] " in gone


def test_what_was_found_at_any_time_is_not_ruled_out() -> None:
    def agree_later(document: Any, look: int) -> None:
        for item in document["subscriptionSet"] if look else ():
            item["subString"] = "*" if item["topic"].startswith("%RETRY%") else "tagB"

    report = diagnosed("mismatch-4.9.4.json", by_look(307, agree_later), looks=2)
    assert codes(report) == set()
    assert "RC0101" not in {item.check.code for item in report.ruled_out}
    assert "RC0106" in {item.check.code for item in report.ruled_out}


@pytest.mark.parametrize(("comes_again", "ruled_out"), [(False, True), (True, False)])
def test_what_ends_for_good_before_a_change_must_be_over_is_ruled_out(
    comes_again: bool, ruled_out: bool
) -> None:
    """Queues without an owner for 28 s, while orderly members may first have to learn of them."""

    def change(document: Any, look: int) -> None:
        if look < 15 and not (comes_again and look == 7):
            without_queue(document["mqTable"], 3)

    report = diagnosed("mismatch-4.9.4.json", ALIKE, *orderly(locked=True), by_look(307, change), looks=50)
    assert "RC0301" not in codes(report)
    assert ("RC0301" in {item.check.code for item in report.ruled_out}) is ruled_out


def _group_comes_in_look(number: int) -> Edit:
    """A broker that creates no group, and has this one from a look on."""

    def change(item: Exchange) -> Exchange:
        if item.code != GET_ALL_SUBSCRIPTIONGROUP_CONFIG or item.look >= number:
            return item
        document = item.document
        no_group(document)
        return replace(item, body=json.dumps(document))

    return each(change)


def test_settings_are_asked_for_again() -> None:
    closed = settings(autoCreateSubscriptionGroup="false")
    missing = diagnosed("mismatch-4.9.4.json", ALIKE, closed, _group_comes_in_look(6), looks=6)
    assert codes(missing) == {"RC0402"}
    assert codes(diagnosed("mismatch-4.9.4.json", ALIKE, closed, _group_comes_in_look(6), looks=7)) == set()


def test_settings_that_a_broker_does_not_tell_again_are_as_they_were() -> None:
    def quiet(item: Exchange) -> Exchange:
        if item.code not in SELDOM_ASKED or item.look == 0:
            return item
        return replace(item, answer_code=None, body="", error="no answer within 3 s")

    report = diagnosed(
        "mismatch-4.9.4.json", ALIKE, group_settings(consumeEnable=False), each(quiet), looks=8
    )
    assert codes(report) == {"RC0406"}


def test_a_bundle_that_has_settings_in_its_first_look_alone_is_read() -> None:
    def first_alone(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
        return [item for item in exchanges if item.code not in SELDOM_ASKED or item.look == 0]

    report = diagnosed("mismatch-4.9.4.json", ALIKE, first_alone, looks=15)
    assert (codes(report), unknown(report)) == (set(), set())


def test_metrics_are_served_until_the_end() -> None:
    report = diagnosed("mismatch-4.9.4.json")
    assert codes(report) == {"RC0101"}
    with Metrics("127.0.0.1", 0) as metrics:
        metrics.tell(report)
        with urllib.request.urlopen(f"http://127.0.0.1:{metrics.port}/metrics", timeout=5) as answer:
            text = answer.read().decode()
    assert (
        'rocketchaos_diagnose_finding{code="RC0101",level="error",group="group-1",topic="topic-1"} 1' in text
    )
    assert text.splitlines() == list(lines(report))


def test_metrics_say_that_nobody_is_reachable_and_keep_the_last_result() -> None:
    report = diagnosed("mismatch-4.9.4.json")
    with Metrics("127.0.0.1", 0) as metrics:
        metrics.lose()
        assert metrics.text == ""  # nothing has been seen yet
        metrics.tell(report)
        reached = metrics.text.splitlines()
        metrics.lose()
        lost = metrics.text.splitlines()
        metrics.tell(report)
    assert set(reached) ^ set(lost) == {
        "rocketchaos_diagnose_reachable 1",
        "rocketchaos_diagnose_reachable 0",
    }
    assert "rocketchaos_diagnose_reachable 0" in lost
    assert metrics.text.splitlines() == reached


def test_metrics_have_each_set_of_labels_once() -> None:
    report = diagnosed("mismatch-4.9.4.json", ALIKE, listener(1))
    assert [item.check.code for item in report.findings] == ["RC0601", "RC0601"]  # of two members
    served = [line for line in lines(report) if line.startswith('rocketchaos_diagnose_finding{code="RC0601"')]
    assert served == [
        'rocketchaos_diagnose_finding{code="RC0601",level="warning",group="group-1",topic="topic-1"} 1'
    ]


def _points(*pairs: tuple[int, int], every_s: int = 10) -> list[Point]:
    return [Point(index * every_s * 1000, offset, lag) for index, (offset, lag) in enumerate(pairs)]


def test_the_rules_of_burrow() -> None:
    assert state(_points((5, 3), (5, 0), (5, 3), (5, 9))) == "ok"  # a lag of zero somewhere
    assert state(_points((5, 3), (5, 3), (5, 4), (5, 9))) == "stop"
    assert state(_points((5, 3), (6, 3), (7, 3), (8, 9))) == "warning"
    assert state(_points((5, 9), (6, 8), (7, 9), (8, 9))) == "ok"  # it fell once
    assert state(_points((9, 3), (4, 8))) == "rewind"
    assert state(_points((9, 3), (4, 8), (10, 4), (11, 3))) == "ok"  # it has recovered
    assert state(_points((5, 3), (5, 3), (5, 3), every_s=1)) == "unknown"  # too little history
    assert state([]) == "ok"


def test_an_offset_that_stops_while_a_watch_goes_on_is_found_as_soon_as_one_that_stood_before() -> None:
    stops = offset(lambda look: 1 + min(look, 4), lambda look: 1 + look)
    assert codes(diagnosed("mismatch-4.9.4.json", ALIKE, *stops, looks=18)) == set()  # for 24 s
    (found,) = diagnosed("mismatch-4.9.4.json", ALIKE, *stops, looks=19).findings
    assert found.sentence == "broker-1 0: the offset hasn't moved for 26 s, 14 messages behind"
    assert [item.says for item in found.evidence][:2] == ["offsets of topic-1: 0: 5"] * 2


def test_an_offset_that_stops_before_a_watch_sees_no_lag_is_found_too() -> None:
    assert state(telling_end(_points((5, 3), (8, 1), (9, 2), (9, 3), (9, 4), (9, 9)))) == "stop"
    assert state(telling_end(_points((5, 3), (8, 2), (9, 1), (9, 1), (9, 1), every_s=9))) == "ok"  # 18 s


@pytest.mark.parametrize(("taken", "found"), [(1, {"RC0504"}), (8, set())])
def test_a_group_that_falls_behind_while_a_watch_goes_on_is_found(taken: int, found: set[str]) -> None:
    """Of ten messages it takes one; if it takes eight, those that it hasn't committed yet may explain the lag."""
    began = [max(0, look - 4) for look in range(19)]
    changes = offset(lambda look: 1 + taken * began[look], lambda look: 1 + 10 * began[look])
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *changes, looks=19)
    assert codes(report) == found
    assert [item.sentence for item in report.findings] == [
        "broker-1 0: the lag never fell in 26 s; it is 126 messages now" for _ in found
    ]


def test_a_report_of_any_size_has_a_short_repr() -> None:
    assert len(repr(diagnosed("mismatch-4.9.4.json"))) < 200
