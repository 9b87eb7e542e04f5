"""One process at a time fills a part of the cache."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rocketchaos.harness.core.errors import EnvironmentNotReady

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIMIT_S = 900


@contextmanager
def cache_lock(folder: Path, what: str, progress: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of a folder, made if need be; the system frees the lock of a process that dies.

    Args:
        folder: it is filled by whoever holds the lock.
        what: it has, for messages: `jars`.
        progress: called when another process is waited for.

    Raises:
        EnvironmentNotReady: the folder can't be written or locked, or another process holds the lock for 15 min.
    """
    # Only here, where something is missing.
    import filelock

    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(folder / "lock")
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            progress(f"waiting for another process that fetches {what}")
            lock.acquire(timeout=_LIMIT_S)
    except filelock.Timeout as error:
        raise EnvironmentNotReady(
            f"another process has held the cache of {what} for {_LIMIT_S} s: {folder}",
            "End it, or set ROCKETCHAOS_CACHE to another folder.",
        ) from error
    except OSError as error:
        raise EnvironmentNotReady(
            f"the cache of {what} can't be locked: {error.strerror or error}: {folder}",
            "Set ROCKETCHAOS_CACHE to a folder on a local disk.",
        ) from error
    with lock:
        # `with` counts on top of `acquire`.
        lock.release()
        yield
