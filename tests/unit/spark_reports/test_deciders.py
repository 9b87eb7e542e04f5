"""Which of RocketMQ's timers decide how long something takes."""

from __future__ import annotations

import pytest

from spark_reports.timing.deciders import deciders

TIMERS = {"java.rebalance": [20_000], "python.rebalance": [10_000]}


@pytest.mark.parametrize(
    ("client", "known_ms"),
    [("java", [20_000]), ("java 4.9.4", [20_000]), ("python 2.0.0", [10_000]), ("java+python 2.0.0", [])],
)
def test_the_timers_are_those_of_the_kind_whatever_its_version(client: str, known_ms: list[int]) -> None:
    assert [one.ms for one in deciders("rebalance", client, False, TIMERS)] == known_ms
