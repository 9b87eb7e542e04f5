"""RocketMQ's timers that decide how long something takes, in words."""

from __future__ import annotations

from rocketchaos.spark_reports.queries import query
from rocketchaos.spark_reports.timing.deciders import WHATS, deciders


def test_timers_are_shown_in_words() -> None:
    assert [str(decider) for decider in deciders("broker.hold-pull=15000 broker.hold-check=5000")] == [
        "long polling 15 s",
        "check of held pulls 5 s",
    ]
    assert deciders(None) == []


def test_every_kind_of_interval_has_a_limit() -> None:
    for what in WHATS:
        assert f"WHEN '{what}' THEN" in query("timing_histograms")
