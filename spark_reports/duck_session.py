"""DuckDB as a session of reports: it starts in milliseconds, where Spark's JVM takes seconds."""

from __future__ import annotations

import atexit
import gc
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any

import duckdb
from pyspark.sql import Row

from rocketchaos.harness.core.errors import EnvironmentNotReady

# At their end commands look for no garbage (`rocketchaos.__main__`). DuckDB takes it for a leak, and prints it.
atexit.unregister(gc.freeze)
BY_SPARK = "Leave out --engine duckdb: Spark reads it, or says what is wrong."
"""The way out where DuckDB can't read a store."""


@dataclass(frozen=True, slots=True)
class DuckRows:
    """The rows of a query. See `spark_reports.session.Answered`."""

    rows: list[Row]

    def collect(self) -> list[Row]:
        """Its rows, as Spark would give them."""
        return self.rows


class DuckSession:
    """Of one connection. See `spark_reports.session.Session`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        # A query has all cores; views of files are the connection's own.
        self._lock = Lock()

    def sql(self, text: str, /) -> DuckRows:
        """Ask a query at once. Times come in UTC.

        Raises:
            EnvironmentNotReady: files of the store can't be read, or memory and disk are too small for the query.
        """
        try:
            with self._lock:
                self.connection.execute(text)
                names = [column[0] for column in self.connection.description or ()]
                found = self.connection.fetchall()
        except (duckdb.IOException, duckdb.InvalidInputException, duckdb.OutOfMemoryException) as error:
            said = str(error).partition("\n")[0]
            raise EnvironmentNotReady(f"DuckDB can't read the store: {said}", BY_SPARK) from error
        make = Row(*names)
        return DuckRows([make(*map(_value, row)) for row in found])


def _value(value: Any) -> Any:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value
