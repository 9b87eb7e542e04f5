"""The driver as a Spark Connect server: statements say what a JVM of this process would be asked."""

import fcntl
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.spark_reports import delta_sql
from rocketchaos.spark_reports.places import Place, literal

_NO_TABLE = ("DELTA_MISSING_DELTA_TABLE", "DELTA_TABLE_NOT_FOUND")
_NO_PATH = "PATH_NOT_FOUND"
_BOTH_REACH = "Choose a place that both reach, as s3a:// or hdfs://, or a server on this machine."


class ConnectDriver:
    """See `spark_reports.driver.Driver`."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._shared: set[Path] = set()
        """Folders that Spark is known to see."""

    def is_table(self, path: str) -> bool:
        try:
            self._properties(path)
        except AnalysisException as error:
            if error.getCondition() in _NO_TABLE:
                return False
            raise
        return True

    def version(self, path: str) -> int:
        newest = self._spark.sql(f"DESCRIBE HISTORY {delta_sql.named(path)} LIMIT 1").first()
        assert newest is not None
        return int(newest.version)

    def table_property(self, path: str, name: str) -> str | None:
        return self._properties(path).get(name)

    def sees(self, file: Path) -> bool:
        try:
            seen = self._files(f"file:{file}").select("length").first()
        except AnalysisException as error:
            if error.getCondition() == _NO_PATH:
                return False
            raise
        return seen is not None and seen.length == file.stat().st_size

    @contextmanager
    def lock(self, file: Path, waiting: Callable[[], None]) -> Iterator[None]:
        """This process holds it, by the same system call as a JVM does."""
        try:
            self._require_shared(file.parent)
            opened = file.open("ab")
        except OSError as error:
            raise EnvironmentNotReady(
                f"the store can't be written: {error.strerror or error}: {file.parent}",
                "Choose another place, or correct its permissions.",
            ) from error
        with opened:
            try:
                if not _locked(opened):
                    waiting()
                    fcntl.lockf(opened, fcntl.LOCK_EX)
            except OSError as error:
                raise EnvironmentNotReady(
                    f"the store can't be locked: {error.strerror or error}: {file.parent}",
                    "Put it on a file system with locks.",
                ) from error
            yield

    def names(self, uri: str) -> Sequence[str]:
        try:
            files = self._files(uri).inputFiles()
        except AnalysisException as error:
            if error.getCondition() == _NO_PATH:
                return []
            raise
        # Hadoop says `file:///folder` for `file:/folder`.
        depth = Place.of(uri).uri.replace("file:", "file://").count("/")
        return sorted({unquote(item).split("/")[depth + 1] for item in files})

    def delete(self, uri: str) -> None:
        """A database at this place is made, and goes with all that is there."""
        name = f"rocketchaos_{secrets.token_hex(8)}"
        quoted = uri.replace("\\", "\\\\").replace("'", "\\'")
        self._spark.sql(f"CREATE DATABASE {name} LOCATION '{quoted}'")
        self._spark.sql(f"DROP DATABASE {name} CASCADE")
        folder = Place.of(uri).folder
        if folder is not None:
            # The server may not delete what is this user's.
            shutil.rmtree(folder, ignore_errors=True)

    def put(self, folder: Path, uri: str) -> None:
        count = len({item.parent for item in folder.rglob("*") if item.is_file()})
        if count:
            raise EnvironmentNotReady(
                f"{count} run folders need new facts, and Spark Connect can't bring these to {uri}",
                "Make them in the folders: rocketchaos check RUN. Or ingest with another --master.",
            )

    def fetch(self, uri: str, names: Sequence[str], target: Path) -> None:
        try:
            rows = self._files(uri).select("path", "content").toLocalIterator()
            for row in rows:
                name = row.path.removeprefix(f"{uri}/")
                if name.partition("/")[0] in names:
                    file = target / name
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(row.content)
        except AnalysisException as error:
            if error.getCondition() != _NO_PATH:
                raise

    def _properties(self, path: str) -> Mapping[str, str]:
        rows = self._spark.sql(f"SHOW TBLPROPERTIES {delta_sql.named(path)}").collect()
        return {row.key: row.value for row in rows}

    def _files(self, uri: str) -> DataFrame:
        return self._spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(literal(uri))

    def _require_shared(self, folder: Path) -> None:
        """Make sure that the server sees this folder, and not its own of the same name."""
        if folder in self._shared:
            return
        token = folder / f"seen-{secrets.token_hex(8)}"
        token.write_bytes(b"?")
        try:
            seen = self.sees(token)
        finally:
            token.unlink()
        if not seen:
            raise EnvironmentNotReady(
                f"the Spark Connect server doesn't see this machine's folder {folder}", _BOTH_REACH
            )
        self._shared.add(folder)


def _locked(file: IO[bytes]) -> bool:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
