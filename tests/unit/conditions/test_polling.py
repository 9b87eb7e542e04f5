"""How often brokers are asked while a run waits."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.conditions import _interval_s
from rocketchaos.harness.probes.watch import interval_s


@pytest.mark.parametrize(("waited_s", "interval"), [(0.0, 0.01), (0.1, 0.01), (0.5, 0.025), (5.0, 0.05)])
def test_a_condition_is_looked_at_less_often_the_longer_it_takes(waited_s: float, interval: float) -> None:
    state: Any = cast(Any, SimpleNamespace(seconds_since_start=waited_s))
    assert _interval_s(state) == pytest.approx(interval)


def test_many_runs_watch_a_cluster_less_often_each() -> None:
    assert [interval_s(runs, 2) for runs in (1, 4, 8, 16)] == [0.25, 0.25, 0.5, 1.0]
    assert interval_s(16, 8) == 0.25
