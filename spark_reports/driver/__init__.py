"""What is asked of Spark's driver in addition to queries: Delta's own knowledge of a table, files, a lock.

Where the driver is a JVM of this process, its Java objects are asked. Over Spark Connect there are none, and
statements take their place.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote

SCHEME = "sc://"
"""How the address of a Spark Connect server begins."""


class Driver(Protocol):
    """Of one session."""

    def is_table(self, path: str) -> bool:
        """Whether there is a Delta table."""

    def version(self, path: str) -> int:
        """The newest version of a Delta table."""

    def table_property(self, path: str, name: str) -> str | None:
        """One property of a Delta table; None: it has no such property."""

    def sees(self, file: Path) -> bool:
        """Whether this file of this machine is there for Spark, too. Of a JVM of this process it is believed."""

    def lock(self, file: Path, waiting: Callable[[], None]) -> AbstractContextManager[None]:
        """Hold the lock of a file, which is made where it isn't there; `waiting` is called if another has it.

        Raises:
            EnvironmentNotReady: it can't be written, its file system has no locks, or Spark doesn't see it.
        """

    def names(self, uri: str) -> Sequence[str]:
        """What is in a folder; nothing where there is no folder. Over Spark Connect only what has files in it."""

    def delete(self, uri: str) -> None:
        """Delete a folder with all that is in it, where it is there."""

    def put(self, folder: Path, uri: str) -> None:
        """Copy a folder of this machine to where only Spark reaches.

        Raises:
            EnvironmentNotReady: Spark Connect takes no files.
        """

    def fetch(self, uri: str, names: Sequence[str], target: Path) -> None:
        """Copy files and folders of a folder that only Spark reaches; missing and forbidden ones are left out."""


def driver_of(spark: SparkSession) -> Driver:
    """The driver of this session."""
    # Spark Connect's packages, and those of the JVM, are not on every machine.
    if is_remote():
        from rocketchaos.spark_reports.driver.connect import ConnectDriver

        return ConnectDriver(spark)
    from rocketchaos.spark_reports.driver.jvm import JvmDriver

    return JvmDriver(spark)
