"""What a run leaves behind in memory goes back to the system: a long night needs no more of it than a short one."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress


def give_back() -> None:
    """End what only refers to itself, and let the C library give back what is free then.

    No object stays of a run but its `NightlyRun` (900 runs in a row, counted). Yet histories wait in cycles for
    Python's collector, each with the next ones beside it, and glibc keeps an arena for each of some threads, where
    each run has threads of its own (`make bench BENCH="--only soak"`). Without `malloc_trim`, which is glibc's,
    only the first is done.
    """
    gc.collect()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
