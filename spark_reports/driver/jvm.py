"""The driver as a JVM of this process, asked through py4j."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from delta.tables import DeltaTable
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from rocketchaos.harness.core.errors import EnvironmentNotReady

_OF_THE_FILE = ("FileNotFoundException", "AccessControlException", "AccessDeniedException")
"""The ends of the names of Java's exceptions that say something about one file, not about the connection."""


class JvmDriver:
    """See `spark_reports.driver.Driver`. Delta's Java API tells at once what takes its SQL a job."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def is_table(self, path: str) -> bool:
        return bool(DeltaTable.isDeltaTable(self._spark, path))

    def version(self, path: str) -> int:
        return int(self._snapshot(path).version())

    def table_property(self, path: str, name: str) -> str | None:
        found = self._snapshot(path).metadata().configuration().get(name)
        return str(found.get()) if found.isDefined() else None

    def sees(self, file: Path) -> bool:  # noqa: ARG002 - the protocol's
        return True

    @contextmanager
    def lock(self, file: Path, waiting: Callable[[], None]) -> Iterator[None]:
        """The JVM holds it, which is what writes: where this process is killed, it lasts as long as the JVM."""
        try:
            opened = self._jvm.java.io.RandomAccessFile(str(file), "rw")
        except Py4JJavaError as error:
            raise EnvironmentNotReady(
                f"the store can't be written: {error.java_exception.getMessage()}",
                "Choose another place, or correct its permissions.",
            ) from error
        try:
            channel = opened.getChannel()
            try:
                if channel.tryLock() is None:
                    waiting()
                    channel.lock()
            except Py4JJavaError as error:
                raise EnvironmentNotReady(
                    f"the store can't be locked: {error.java_exception.getMessage()}: {file.parent}",
                    "Put it on a file system with locks.",
                ) from error
            yield
        finally:
            # It frees the lock, too.
            opened.close()

    def names(self, uri: str) -> Sequence[str]:
        path = self._path(uri)
        files = path.getFileSystem(self._configuration)
        return [item.getPath().getName() for item in files.listStatus(path)] if files.exists(path) else []

    def delete(self, uri: str) -> None:
        path = self._path(uri)
        path.getFileSystem(self._configuration).delete(path, True)

    def put(self, folder: Path, uri: str) -> None:
        path = self._path(uri)
        files = path.getFileSystem(self._configuration)
        files.copyFromLocalFile(False, True, self._path(f"file:{folder}"), path)

    def fetch(self, uri: str, names: Sequence[str], target: Path) -> None:
        """Missing and forbidden files show afterwards.

        Raises:
            Py4JJavaError: the file system doesn't answer.
        """
        files = self._path(uri).getFileSystem(self._configuration)
        for name in names:
            here = self._path(f"file:{target}/{name}")
            try:
                files.copyToLocalFile(False, self._path(f"{uri}/{name}"), here, True)
            except Py4JJavaError as error:
                if not str(error.java_exception.getClass().getName()).endswith(_OF_THE_FILE):
                    raise

    @property
    def _jvm(self) -> Any:
        return self._spark.sparkContext._jvm

    @property
    def _configuration(self) -> Any:
        context: Any = self._spark.sparkContext
        return context._jsc.hadoopConfiguration()

    def _path(self, uri: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(uri)

    def _snapshot(self, path: str) -> Any:
        none = self._jvm.scala.Option.empty()
        log = self._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(self._spark._jsparkSession, path)
        return log.update(False, none, none)
