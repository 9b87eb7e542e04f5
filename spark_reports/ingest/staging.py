"""Facts of an ingest under way, in a folder of the store that ends with it: every executor can read them there."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.spark_reports.driver import driver_of
from rocketchaos.spark_reports.places import literal
from rocketchaos.spark_reports.store import BATCH_LIMIT_S, Store

_FOLDER = "staging"


@dataclass(frozen=True, slots=True)
class Staging:
    """The folder in which an ingest keeps the facts that it makes."""

    spark: SparkSession
    uri: str
    folder: Path | None

    def keep(self, name: str, rows: DataFrame) -> DataFrame:
        """Write rows and read them back, so that the work is not repeated."""
        uri = f"{self.uri}/{name}"
        rows.write.mode("overwrite").parquet(uri)
        return self.spark.read.schema(rows.schema).parquet(literal(uri))

    @contextmanager
    def filling(self, name: str) -> Iterator[Path]:
        """A folder of this machine. At the end of the block its content is in the folder of this name.

        Raises:
            EnvironmentNotReady: it can't be written.
        """
        try:
            if self.folder is not None:
                yield self.folder / name
                return
            with tempfile.TemporaryDirectory(prefix="rocketchaos-") as temporary:
                here = Path(temporary) / name
                yield here
                if here.exists():
                    driver_of(self.spark).put(here, f"{self.uri}/{name}")
        except OSError as error:
            raise EnvironmentNotReady(
                f"facts can't be made: {error.strerror or error}: {error.filename or self.uri}",
                "Free some disk space, or let this user write there.",
            ) from error


@contextmanager
def staging(spark: SparkSession, store: Store, batch: str) -> Iterator[Staging]:
    """A place for one batch, removed at the end. Leftovers of interrupted ingests are removed too."""
    root = store.place.of_table(_FOLDER)
    _remove_old(spark, root)
    uri = f"{root}/{batch}"
    try:
        folder = store.place.folder
        yield Staging(spark, uri, None if folder is None else folder / _FOLDER / batch)
    finally:
        _remove(spark, uri)


def _remove_old(spark: SparkSession, root: str) -> None:
    oldest = (datetime.now(UTC) - 2 * timedelta(seconds=BATCH_LIMIT_S)).strftime("%Y%m%dT%H%M%SZ")
    for name in driver_of(spark).names(root):
        if name < oldest:
            _remove(spark, f"{root}/{name}")


def _remove(spark: SparkSession, uri: str) -> None:
    with suppress(Exception):  # the ingest's own failure is what the user must hear of
        driver_of(spark).delete(uri)
