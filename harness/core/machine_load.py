"""How busy this machine is."""

import os
import threading
from typing import Any

import psutil

SHORTEST_S = 0.1
"""Shorter measurements say nothing: the kernel counts in ticks of 10 ms."""


def usable_cores() -> int:
    """The cores that this process may use; where the system doesn't say (macOS), all of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory_mib() -> float:
    """The memory that new processes can have without swapping."""
    return float(psutil.virtual_memory().available) / 2**20


def average_1min() -> float:
    """The run queue's length, averaged over a minute."""
    return round(os.getloadavg()[0], 2)


class CpuMeter:
    """The share of all cores that was busy, from 0 to 1, with whatever runs on the machine."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begin = _busy_and_all()

    def busy(self) -> float | None:
        """Since the last call that gave an answer; None: that was less than 0.1 s ago."""
        with self._lock:
            now = _busy_and_all()
            (busy, total), (busy_before, total_before) = now, self._begin
            if total - total_before < SHORTEST_S * (os.cpu_count() or 1):
                return None
            self._begin = now
            return min(1.0, max(0.0, (busy - busy_before) / (total - total_before)))


class RunLoad:
    """How busy the machine was while a run was under way."""

    def __init__(self) -> None:
        self._start_average = average_1min()
        self._meter = CpuMeter()

    def as_json(self) -> dict[str, Any]:
        """As `run.json` has it, up to now."""
        busy = self._meter.busy()
        return {
            "start": {"average_1min": self._start_average},
            "end": {"average_1min": average_1min()},
            "busy_share": None if busy is None else round(busy, 3),
        }


def _busy_and_all() -> tuple[float, float]:
    """Seconds of all cores since the machine started: busy ones, and all."""
    times = psutil.cpu_times()
    # Guests' time is in user's already.
    total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    return total - times.idle - getattr(times, "iowait", 0.0), total
