"""Slaves: what is certain, what is not, and what is nobody's fault."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pytest

from rocketchaos.harness.diagnose.diagnosis import Report
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.requests import GET_BROKER_CLUSTER_INFO
from tests.unit.diagnose.broker_edits import route_fields, settings, slave_alone
from tests.unit.diagnose.member_edits import ALIKE
from tests.unit.diagnose.reports import (
    BROKER,
    SLAVE,
    Change,
    Edit,
    codes,
    diagnosed,
    second_broker,
    unknown,
    with_slave,
)

EVEN = with_slave(lambda _look: 1000, lambda _look: 1000)


def _report(*changes: Change, recorded: str = "mismatch-5.5.0.json", looks: int = 16) -> Report:
    return diagnosed(recorded, ALIKE, *changes, looks=looks)


def leaves(look: int, back: int | None = None) -> Edit:
    """The slave isn't registered from a look on, until it is back."""

    def edited(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
        for item in exchanges:
            if (
                item.code == GET_BROKER_CLUSTER_INFO
                and item.look >= look
                and (back is None or item.look < back)
            ):
                document = item.document
                del document["brokerAddrTable"][BROKER]["brokerAddrs"]["1"]
                yield replace(item, body=json.dumps(document))
            else:
                yield item

    return edited


def test_a_slave_that_keeps_up_is_fine() -> None:
    report = _report(EVEN, looks=3)
    assert not codes(report)
    assert not unknown(report)
    assert {"RC0809", "RC0810"} <= {item.check.code for item in report.ruled_out}


def test_a_slave_that_leaves_while_it_is_watched_is_missed() -> None:
    (finding,) = _report(EVEN, leaves(2)).findings
    assert finding.check.code == "RC0809"
    assert f"{BROKER} 1 at {SLAVE}" in finding.sentence


def test_a_slave_that_restarts_is_not_missed() -> None:
    assert not codes(_report(EVEN, leaves(2, back=8)))


def test_a_slave_that_left_a_moment_ago_may_be_restarting() -> None:
    report = _report(EVEN, leaves(12))
    assert not codes(report)
    assert unknown(report) == {"RC0809"}


@pytest.mark.parametrize("key", ["totalReplicas", "inSyncReplicas", "minInSyncReplicas"])
def test_settings_ask_for_more_replicas_than_there_are(key: str) -> None:
    (finding,) = _report(EVEN, settings(**{key: "3"})).findings
    assert finding.check.code == "RC0809"
    assert f"{key}=3" in finding.sentence
    assert not codes(_report(EVEN, settings(**{key: "2"})))


@pytest.mark.parametrize("mode", ["enableDLegerCommitLog", "enableControllerMode"])
def test_who_calls_itself_sync_master_by_its_mode_asks_for_no_slave(mode: str) -> None:
    assert not codes(_report(settings(brokerRole="SYNC_MASTER", **{mode: "true"})))


def test_a_slave_that_only_another_broker_has_may_never_have_been() -> None:
    (finding,) = _report(second_broker(), EVEN, looks=2).findings
    assert (finding.check.code, finding.level) == ("RC0809", Level.INFO)
    assert "broker-2 has no registered slave" in finding.sentence


def test_a_slave_that_does_not_answer_is_undetermined_and_named() -> None:
    report = _report(with_slave(lambda _look: 1000, lambda _look: None), looks=2)
    assert not codes(report)
    assert unknown(report) == {"RC0810"}
    assert SLAVE in report.undetermined[0].reason


def test_a_master_of_5_tells_that_no_slave_copies() -> None:
    none = with_slave(lambda _look: 1000, lambda _look: None, connections=0)
    (finding,) = _report(none).findings
    assert finding.check.code == "RC0810"
    # 4.9.4 doesn't know the request, and isn't asked.
    assert unknown(_report(none, recorded="mismatch-4.9.4.json")) == {"RC0810"}


def test_a_slave_that_is_catching_up_is_behind_until_it_has_caught_up() -> None:
    slow = with_slave(lambda look: 1000 + 100 * look, lambda look: 100 + 100 * look)
    assert codes(_report(slow)) == {"RC0810"}
    fast = with_slave(lambda look: 1000 + 100 * look, lambda look: min(100 + 200 * look, 1000 + 100 * look))
    assert not codes(_report(fast))


def copying(slave_offset: Callable[[int, int], int | None]) -> Edit:
    """The slave keeps up with the commit log, and has these offsets."""
    return with_slave(lambda _look: 1000, lambda _look: 1000, slave_offset=slave_offset)


def test_a_slave_without_any_offset_has_not_copied_them_for_longer_than_a_minute() -> None:
    report = _report(copying(lambda _look, _offset: None), looks=42)
    (finding,) = report.findings
    assert finding.check.code == "RC0815"
    assert SLAVE in finding.sentence
    # It may have started a moment ago.
    few = _report(copying(lambda _look, _offset: None), looks=20)
    assert not codes(few)
    assert "RC0815" in unknown(few)
    late = copying(lambda look, offset: offset if look >= 30 else None)
    assert not codes(_report(late, looks=42))


def test_a_slave_that_lacks_what_its_master_had_75_s_ago_is_named() -> None:
    stale = copying(lambda _look, offset: offset - 1)
    (finding,) = _report(stale, looks=42).findings
    assert finding.check.code == "RC0815"
    assert "75 s ago" in finding.sentence
    # Before that it may still copy them.
    assert not codes(_report(stale, looks=20))


def test_a_slave_alone_is_not_a_permission() -> None:
    """A name server of 5.1.0 shows the topics of a slave without a master as closed to producers."""
    closed = route_fields(perm=4)
    assert codes(_report((GET_BROKER_CLUSTER_INFO, slave_alone), closed)) == {"RC0808"}
    assert codes(_report(closed)) == {"RC0404"}
