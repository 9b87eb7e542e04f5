"""The clusters that are made for scenarios. None is started."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.engine.cluster_choice import Making
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED

RARELY = "60000"


@pytest.mark.parametrize(
    ("version", "shared", "interval"),
    [("5.5.0", True, RARELY), ("5.5.0", False, None), ("4.9.4", True, None)],
)
def test_only_brokers_of_5_that_no_step_kills_flush_their_timer_wheel_rarely(
    version: str, shared: bool, interval: str | None, tmp_path: Path
) -> None:
    processes = cast(Any, SimpleNamespace(timing=COMPRESSED, progress=None))
    making = Making(ClusterKind.EMBEDDED, version, ClusterNeeds(), processes, shared=shared)
    cluster = making(tmp_path / "cluster", "owner")
    assert cluster.timing.broker.get("timerFlushIntervalMs") == interval
