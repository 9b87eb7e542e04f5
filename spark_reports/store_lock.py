"""One writer at a time on a store on a local disk.

Delta commits by a rename that must fail where the target exists. That holds on HDFS; on a local disk Java's rename
overwrites, Delta guards it within one JVM only (`io.delta.storage.HDFSLogStore`, 4.1.0), and of two processes that
commit at once one would lose what it wrote.

Spark's driver knows how to hold it: see `spark_reports.driver`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rocketchaos.spark_reports.driver import Driver

FILE = ".lock"

# A JVM can't hold a lock of a file twice, and a process loses one when it closes the file's other handle.
_WITHIN = threading.RLock()


@contextmanager
def store_lock(driver: Driver, folder: Path, progress: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of the store in this folder.

    Args:
        driver: of Spark.
        folder: of the store; it exists.
        progress: called when another process is waited for.

    Raises:
        EnvironmentNotReady: the folder can't be written, its file system has no locks, or Spark doesn't see it.
    """

    def waiting() -> None:
        progress("waiting for another process that writes to the store")

    with _WITHIN, driver.lock(folder / FILE, waiting):
        yield
