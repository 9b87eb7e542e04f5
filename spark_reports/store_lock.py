"""One writer at a time on a store on a local disk.

Delta commits by a rename that must fail where the target exists. That holds on HDFS; on a local disk Java's rename
overwrites, Delta guards it within one JVM only (`io.delta.storage.HDFSLogStore`, 4.1.0), and of two processes that
commit at once one would lose what it wrote.

The lock is held by Spark's JVM, which is what writes: where this process is killed, it lasts as long as the JVM.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from rocketchaos.harness.core.errors import EnvironmentNotReady

FILE = ".lock"

# A JVM can't hold a lock of a file twice.
_WITHIN = threading.RLock()


@contextmanager
def store_lock(spark: SparkSession, folder: Path, progress: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of the store in this folder.

    Args:
        spark: whose JVM holds it.
        folder: of the store; it exists.
        progress: called when another process is waited for.

    Raises:
        EnvironmentNotReady: the folder can't be written, or its file system has no locks.
    """
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    with _WITHIN:
        try:
            file = jvm.java.io.RandomAccessFile(str(folder / FILE), "rw")
        except Py4JJavaError as error:
            raise EnvironmentNotReady(
                f"the store can't be written: {error.java_exception.getMessage()}",
                "Choose another place, or correct its permissions.",
            ) from error
        try:
            channel = file.getChannel()
            try:
                if channel.tryLock() is None:
                    progress("waiting for another process that writes to the store")
                    channel.lock()
            except Py4JJavaError as error:
                raise EnvironmentNotReady(
                    f"the store can't be locked: {error.java_exception.getMessage()}: {folder}",
                    "Put it on a file system with locks.",
                ) from error
            yield
        finally:
            # It frees the lock, too.
            file.close()
