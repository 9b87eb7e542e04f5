"""A run's memory goes back to the system: a long night needs no more of it than a short one."""

import ctypes
import gc
from contextlib import suppress

_ARENA_MAX = -8
"""`M_ARENA_MAX` of glibc's malloc.h."""


def share_one_arena() -> None:
    """Let all threads take memory from one arena of the C library; nothing where it isn't glibc.

    By default threads get arenas of their own, and each run has new threads: then much memory is free in pieces
    that are rarely used. Call this before there are threads.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def give_back() -> None:
    """Collect cyclic garbage, and let the C library return the free memory.

    No object stays of a run but its `NightlyRun` (900 runs in a row, counted). Yet histories are parts of cycles,
    which wait for Python's collector while more of them come. Where there is no `malloc_trim`, which is glibc's,
    only the first is done.
    """
    gc.collect()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
