"""What a run's threads have freed goes back to the system: a long night needs no more memory than a short one."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def give_back() -> None:
    """Let the C library give back what is free; nothing where it has no `malloc_trim`, as glibc has.

    glibc keeps an arena for each of some threads, and each run has threads of its own: no object stays, and yet
    the process grew by 20 MiB in an hour (`make bench BENCH="--only soak"`).
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
