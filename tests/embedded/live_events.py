"""What a run from Python has seen so far, and waiting for more."""

from __future__ import annotations

from collections import Counter

import pytest

from rocketchaos.harness.core.model import Event
from rocketchaos.harness.live import LiveRun
from tests.waiting import until

BOTH = pytest.mark.parametrize("version", ["4.9.4", pytest.param("5.5.0", marks=pytest.mark.nightly)])
OFFSET_LIMIT = "60s"


def seen(run: LiveRun, kind: str, node: str | None = None) -> list[Event]:
    return [event for event in list(run.events) if event.kind == kind and node in (None, event.node)]


def keys(run: LiveRun, node: str, kind: str = "received") -> Counter[str]:
    return Counter(str(event.data["key"]) for event in seen(run, kind, node))


def wait_for_keys(run: LiveRun, node: str, count: int, kind: str = "received") -> Counter[str]:
    until(lambda: len(keys(run, node, kind)) >= count)
    return keys(run, node, kind)


def offsets(run: LiveRun, group: str) -> dict[int, int | None]:
    """The group's offsets, by queue id, as they are now."""
    run.observe(f"at-{len(run.events)}")
    queues = [event.data for event in seen(run, "offsets-observed") if event.data["group"] == group][-1][
        "queues"
    ]
    return {queue["queue_id"]: queue["consumer_offset"] for queue in queues}
