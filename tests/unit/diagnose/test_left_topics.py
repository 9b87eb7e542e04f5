"""Topics and brokers that are no concern of a healthy group: topics that it has left, and other clusters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Level
from tests.unit.diagnose.broker_edits import (
    ends,
    group_settings,
    no_topic,
    not_held,
    offset,
    ordered,
    removed_queue,
    route_fields,
    settings,
)
from tests.unit.diagnose.member_edits import ALIKE, queue_table
from tests.unit.diagnose.reports import (
    SECOND,
    Change,
    codes,
    diagnosed,
    each,
    second_broker,
    unanswered,
)

RECORDED = "mismatch-5.5.0.json"
_NOBODY: tuple[Change, ...] = ((307, no_topic), (203, not_held))


def _closed(item: Exchange) -> Exchange:
    """The topic may not be read; the retry topic stays as it is."""
    if item.code != 105 or "%" in item.fields["topic"]:
        return item
    document = json.loads(item.body)
    for row in document["queueDatas"]:
        row["perm"] = 2
    return replace(item, body=json.dumps(document))


_STATES: dict[str, Sequence[Change]] = {
    "RC0403": (route_fields(readQueueNums=4, writeQueueNums=6),),
    "RC0404": (each(_closed),),
    "RC0405": (second_broker(has_topic=False),),
    "RC0408": (removed_queue(9),),
    "RC0409": (ordered("broker-1:4;broker-7:2"),),
    "RC0410": (second_broker(has_topic=False), settings(autoCreateTopicEnable="false")),
    "RC0505": (*offset(lambda _look: 1), ends(minOffset=3)),
    "RC0506": offset(lambda _look: 100),
}
"""By code: the state that is found where members subscribe to the topic."""


@pytest.mark.parametrize(("code", "state"), _STATES.items())
def test_a_topic_that_the_group_has_left_may_be_as_it_is(code: str, state: Sequence[Change]) -> None:
    assert code in codes(diagnosed(RECORDED, ALIKE, *state, looks=15))
    report = diagnosed(RECORDED, *state, *_NOBODY, looks=15)
    assert [str(item.level) for item in report.findings if item.level > Level.INFO] == []
    retention = [item for item in report.findings if item.check.code in ("RC0505", "RC0506")]
    assert all("if the group doesn't need it" in item.effect for item in retention)
    assert {item.check.code for item in retention} == {code} & {"RC0505", "RC0506"}


def test_a_closed_topic_of_an_abandoned_group_is_a_warning() -> None:
    closed = each(_closed)
    (online,) = [item for item in diagnosed(RECORDED, ALIKE, closed).findings if item.check.code == "RC0404"]
    assert online.level is Level.ERROR
    alone = diagnosed(RECORDED, unanswered(203, 206), closed, topics=("topic-1",), groups=None)
    (offline,) = [item for item in alone.findings if item.check.code == "RC0404"]
    assert offline.level is Level.WARNING


def test_settings_of_the_group_count_whatever_it_has_left() -> None:
    report = diagnosed(RECORDED, *_NOBODY, group_settings(consumeEnable=False))
    assert "RC0406" in codes(report)


def _of_another_cluster(document: Any) -> None:
    document["brokerAddrTable"][SECOND]["cluster"] = "another"


def _without_offsets(exchanges: Sequence[Exchange]) -> Iterable[Exchange]:
    """The second broker never had the topic."""
    (first,) = {
        item.address for item in exchanges if item.code == 43 and f"{item.address}2" in _addresses(exchanges)
    }
    for item in exchanges:
        nothing = item.code == 43 and item.address == f"{first}2"
        yield replace(item, body='{"offsetTable": {}}') if nothing else item


def _addresses(exchanges: Sequence[Exchange]) -> set[str]:
    return {item.address for item in exchanges}


def test_another_cluster_at_the_same_name_servers_need_not_have_the_topic() -> None:
    lacks = second_broker(has_topic=False), _without_offsets
    assert codes(diagnosed(RECORDED, ALIKE, *lacks)) == {"RC0405"}
    assert codes(diagnosed(RECORDED, ALIKE, *lacks, (106, _of_another_cluster))) == set()
    alone = settings(autoCreateTopicEnable="false")
    assert codes(diagnosed(RECORDED, ALIKE, *lacks, alone, looks=15)) == {"RC0410"}
    assert codes(diagnosed(RECORDED, ALIKE, *lacks, alone, (106, _of_another_cluster), looks=15)) == set()


@pytest.mark.parametrize(("oldest", "taken"), [(1, True), (3, False)])
def test_deleted_messages_that_a_member_took_before_may_be_handled(oldest: int, taken: bool) -> None:
    """One hanging message holds the offset, while other threads of its member handle what comes after it."""

    def holds(queues: dict[str, Any]) -> None:
        for key, held in queues.items():
            if "%" not in key and '"queueId": 0' in key:
                held.update(cachedMsgCount=1, cachedMsgMinOffset=oldest, cachedMsgMaxOffset=oldest)

    deleted = *offset(lambda _look: 1), ends(minOffset=3)
    report = diagnosed(RECORDED, ALIKE, *deleted, queue_table(holds))
    (finding,) = [item for item in report.findings if item.check.code == "RC0505"]
    assert finding.sentence.startswith("up to 2 messages" if taken else "2 messages")
    assert ("some are still held by" in finding.sentence) is taken
    assert ("may have handled later ones" in finding.effect) is taken
