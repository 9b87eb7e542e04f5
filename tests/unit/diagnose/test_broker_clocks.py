"""Brokers whose clock differs: when messages were stored is told by this machine's."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.requests import GET_TOPIC_STATS_INFO
from tests.unit.diagnose.broker_edits import retry_end, seconds_later
from tests.unit.diagnose.member_edits import ALIKE, listener
from tests.unit.diagnose.reports import Edit, codes, diagnosed, each

RECORDED = "mismatch-4.9.4.json"


def _stored(ago_s: int, ahead_s: int) -> Edit:
    """When the last message of each queue was stored, by the clock of its broker."""

    def edited(item: Exchange) -> Exchange:
        if item.code != GET_TOPIC_STATS_INFO or not item.body:
            return item
        document = item.document
        for row in document["offsetTable"].values():
            row["lastUpdateTimestamp"] = item.at_ms + 1000 * (ahead_s - ago_s)
        return replace(item, body=json.dumps(document))

    return each(edited)


@pytest.mark.parametrize(("ahead_s", "then_s"), [(0, 0), (600, 600), (-600, -600), (-600, 0)])
def test_a_retry_came_when_this_machine_says(ahead_s: int, then_s: int) -> None:
    """The last one is stored before somebody sets the clock back."""
    changes = (ALIKE, seconds_later(ahead_s), _stored(30, then_s), retry_end(3))
    findings = diagnosed(RECORDED, *changes, looks=3).findings
    (sentence,) = [item.sentence for item in findings if item.check.code == "RC0701"]
    assert sentence.startswith("3 retries wait; the last one came ")
    came_s = int(sentence.partition("came ")[2].split()[0])
    assert abs(came_s - 30) < 3, sentence


@pytest.mark.parametrize("ahead_s", [0, -1200])
def test_a_message_that_has_just_come_after_an_idle_time_takes_no_listener_too_long(ahead_s: int) -> None:
    changes = (ALIKE, seconds_later(ahead_s), listener(20))
    assert "RC0602" not in codes(diagnosed(RECORDED, *changes, _stored(10, ahead_s)))
    assert "RC0602" in codes(diagnosed(RECORDED, *changes, _stored(1200, ahead_s)))
