"""Offsets that somebody set ahead, and what only looks so."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.harness.diagnose.read import NO_TOPIC
from tests.unit.diagnose.broker_edits import V5, offset, proxies_topic
from tests.unit.diagnose.member_edits import ALIKE, all_of_it, connections
from tests.unit.diagnose.reports import Change, by_look, codes, diagnosed, unanswered, unknown

RECORDED = "mismatch-4.9.4.json"
JUMP = offset(lambda look: 9 if look < 2 else 100, lambda _look: 100)


def _of_member(change: Any) -> Change:
    return by_look(307, change)


def test_what_was_skipped_is_named_by_its_offsets() -> None:
    (finding,) = diagnosed(RECORDED, ALIKE, *all_of_it(0.1), *JUMP, looks=14).findings
    assert finding.check.code == "RC0509"
    assert finding.sentence.startswith("within 2 s the offset of broker-1 0 from 9 to 100: no more than 14 ")


def test_it_takes_20_s_until_a_client_has_counted_what_it_pulls() -> None:
    assert codes(diagnosed(RECORDED, ALIKE, *all_of_it(0.1), *JUMP, looks=12)) == set()


def _keeps_its_own(document: Any, _look: int) -> None:
    for held in document["mqTable"].values():
        held["commitOffset"] = 9


def test_an_owner_that_has_not_pulled_so_far_proves_it_at_once() -> None:
    # A group that has pulled many messages a moment ago: its rates say nothing.
    changes = (*all_of_it(10.0), *JUMP, _of_member(_keeps_its_own))
    (finding,) = diagnosed(RECORDED, ALIKE, *changes, looks=3).findings
    assert finding.check.code == "RC0509"
    assert finding.sentence.endswith(
        "broker-1 0 from 9 to 100: by their own reports, the owners haven't pulled so far"
    )
    assert "committed 9, cachedMsgCount 0" in finding.evidence[-1].says


def test_an_owner_whose_id_counts_twice_proves_nothing() -> None:
    twin = connections(lambda known: known.append({**known[0], "clientAddr": "host-9:1"}))
    report = diagnosed(RECORDED, ALIKE, *all_of_it(10.0), *JUMP, _of_member(_keeps_its_own), twin, looks=3)
    assert "RC0509" not in codes(report)


def _restarted(document: Any, look: int) -> None:
    document["properties"]["PROP_CONSUMER_START_TIMESTAMP"] = "1" if look < 3 else "2"


def _released(document: Any, look: int) -> None:
    """The listener was stuck on the oldest of many messages."""
    if look < 2:
        for held in document["mqTable"].values():
            held.update(cachedMsgCount=1, cachedMsgMinOffset=9, cachedMsgMaxOffset=99)


def _of_another_language(document: Any) -> None:
    for item in document["connectionSet"]:
        item["language"] = "GO"


def _filtered(document: Any) -> None:
    for topic, item in document["subscriptionTable"].items():
        if "%" not in topic:
            item["subString"] = "tagB"


@pytest.mark.parametrize(
    "change", [_of_member(_restarted), _of_member(_released), (203, _of_another_language), (203, _filtered)]
)
def test_what_only_looks_so(change: Change) -> None:
    report = diagnosed(RECORDED, ALIKE, *all_of_it(0.1), *JUMP, change, looks=14)
    assert "RC0509" not in codes(report) | unknown(report)


def test_without_a_member_it_was_set_or_a_proxy_has_the_members() -> None:
    offline = unanswered(203, 206)
    (finding,) = diagnosed(RECORDED, offline, *JUMP, looks=4).findings
    assert (finding.check.code, "knew a member" in finding.sentence) == ("RC0509", True)
    report = diagnosed(RECORDED, V5, offline, *JUMP, looks=4)
    assert codes(report) == set()
    (reason,) = [item.reason for item in report.undetermined if item.check.code == "RC0509"]
    assert "--proxy" in reason


def test_where_no_proxy_has_been_it_was_set() -> None:
    offline = (unanswered(203, 206), proxies_topic(NO_TOPIC))
    assert codes(diagnosed("mismatch-5.5.0.json", *offline, *JUMP, looks=4)) == {"RC0210", "RC0509"}


def test_offsets_that_go_on_without_a_known_member_are_one_question() -> None:
    goes_on = offset(lambda look: 9 + 50 * look, lambda _look: 1_000)
    report = diagnosed(RECORDED, V5, unanswered(203, 206), *goes_on, looks=4)
    (reason,) = [item.reason for item in report.undetermined if item.check.code == "RC0509"]
    assert "from 9 to 59 while no broker that was asked knew a member, and 2 more times since then" in reason
