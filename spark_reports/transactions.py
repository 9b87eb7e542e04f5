"""Transactions on Delta tables that are done again where another writer was faster."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

import delta.exceptions.captured
from pyspark.sql import SparkSession
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.spark_reports.driver import driver_of
from rocketchaos.spark_reports.places import Place
from rocketchaos.spark_reports.spark_session import Progress
from rocketchaos.spark_reports.store_lock import store_lock

Result = TypeVar("Result")

_ATTEMPTS = 20
# Importing `captured` is what lets PySpark raise them; otherwise they stay Py4J's. Over Spark Connect see
# `spark_reports.connect_session`. They have no base of their own in Python (delta-spark 4.1.0).
_CONFLICTS = tuple(getattr(delta.exceptions, name) for name in delta.exceptions.__all__)


class Transactions:
    """Runs them, one at a time where the store is on a local disk."""

    def __init__(self, spark: SparkSession, place: Place, progress: Progress) -> None:
        self._driver = driver_of(spark)
        self._place = place
        self._progress = progress

    def run(self, transaction: Callable[[], Result]) -> Result:
        """Do one; it is done as a whole or not at all, and is called again where another writer was faster.

        Raises:
            EnvironmentNotReady: others were faster every time, or the store can't be locked.
        """

        def locked() -> Result:
            with self._lock():
                return transaction()

        return self._until_it_is_done(locked)

    def run_together(self, transactions: Sequence[Callable[[], None]], at_once: int) -> None:
        """Do several at a time, each on a table of its own; one that meets another writer is done again.

        Raises:
            EnvironmentNotReady: as `run`.
        """
        with self._lock(), ThreadPoolExecutor(at_once, thread_name_prefix="transaction") as pool:
            for done in [pool.submit(self._until_it_is_done, transaction) for transaction in transactions]:
                done.result()

    def _until_it_is_done(self, transaction: Callable[[], Result]) -> Result:
        attempts = Retrying(
            retry=retry_if_exception_type(_CONFLICTS),
            wait=wait_random_exponential(multiplier=0.2, max=10),
            stop=stop_after_attempt(_ATTEMPTS),
            reraise=True,
        )
        try:
            result: Result = attempts(transaction)
            return result
        except _CONFLICTS as error:
            raise EnvironmentNotReady(
                f"other writers were faster {_ATTEMPTS} times: {self._place.uri}",
                "Nothing is broken; do it again when fewer write to the store.",
            ) from error

    def _lock(self) -> AbstractContextManager[None]:
        folder = self._place.folder
        return nullcontext() if folder is None else store_lock(self._driver, folder, self._progress)
