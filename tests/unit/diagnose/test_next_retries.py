"""A retry that waits for its delay, of minutes or hours, is told although the last one came long ago."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Level
from tests.unit.diagnose.broker_edits import settings
from tests.unit.diagnose.reports import Change, codes, delayed, diagnosed, each

LEVELS = settings(messageDelayLevel="1s 5s 4m 5m")
"""The broker's third level has a delay of 4 min."""


def _retried(ago_ms: int, count: int = 1) -> tuple[Change, ...]:
    """The last of these retries came so long ago, and the group has handled it."""

    def edited(item: Exchange) -> Exchange:
        document = item.document if item.code in (43, 202) else {}
        topic = item.fields.get("topic", "")
        if item.code == 202 and topic.startswith("%RETRY%"):
            for row in document["offsetTable"].values():
                row.update(maxOffset=count, lastUpdateTimestamp=item.at_ms - ago_ms)
        elif item.code == 43:
            document["offsetTable"]["%RETRY%group-1@group-1"] = {"0": count}
        else:
            return item
        return replace(item, body=json.dumps(document))

    return (each(edited),)


def test_a_retry_whose_next_one_waits_for_minutes_is_told() -> None:
    """Measured on 4.9.4: a message that kept failing was no finding while it waited for more than 3 min."""
    report = diagnosed("mismatch-4.9.4.json", *_retried(200_000), delayed(41_000, waiting=1), LEVELS)
    finding = next(item for item in report.findings if item.check.code == "RC0701")
    assert (
        "none is ready now; the last one came 200 s ago, and broker-1 may keep the next one"
        in finding.sentence
    )
    assert any("a message is delayed by 4m, " in item.says for item in finding.evidence)


@pytest.mark.parametrize("due_ms", [20_000, 60_000])
def test_a_message_that_was_delayed_at_another_time_is_no_retry(due_ms: int) -> None:
    report = diagnosed("mismatch-4.9.4.json", *_retried(200_000), delayed(due_ms, waiting=1), LEVELS)
    assert "RC0701" not in codes(report)


@pytest.mark.parametrize(("count", "level"), [(1, Level.INFO), (4, Level.INFO), (5, Level.WARNING)])
def test_a_delay_that_so_few_retries_do_not_have_is_rather_a_producer_s(count: int, level: Level) -> None:
    """By RocketMQ's rule a message has its fifth retry before it waits in level 8, for 4 min."""
    levels = settings(messageDelayLevel="1s 5s 10s 30s 1m 2m 3m 4m")
    changes = (*_retried(200_000, count), delayed(41_000, waiting=1, level=8), levels)
    finding = next(
        item for item in diagnosed("mismatch-4.9.4.json", *changes).findings if item.check.code == "RC0701"
    )
    assert "broker-1 may keep the next one" in finding.sentence
    assert finding.level is level
