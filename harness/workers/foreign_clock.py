"""The clock of another kernel, read as this host's: that of a container engine in a VM.

A worker stamps its events with its own CLOCK_MONOTONIC. Containers on this host's kernel share its clock; those in
a VM count from another start. What a worker stamps between the sending of a request and its answer lies between
those moments here (Cristian 1989, "Probabilistic clock synchronization"), which gives the distance with half of
that time as its uncertainty.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from rocketchaos.harness.workers.worker_events import WorkerEvent

_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class ForeignClock:
    """How far a worker's monotonic clock is behind this host's."""

    behind_ns: int
    uncertainty_ns: int

    @classmethod
    def measured(cls, sent_ns: int, stamped_ns: int, received_ns: int) -> ForeignClock:
        """From one request: sent and received by this host's clock, its answer stamped by the worker's."""
        half = (received_ns - sent_ns) // 2
        return cls(behind_ns=sent_ns + half - stamped_ns, uncertainty_ns=half)

    def here(self, event: WorkerEvent) -> WorkerEvent:
        """The event, with its time as this host's clocks would have had it."""
        mono_ns = event.mono_ns + self.behind_ns
        age_ns = time.monotonic_ns() - mono_ns
        return replace(event, mono_ns=mono_ns, wall_ms=(time.time_ns() - age_ns) // _NS_PER_MS)
