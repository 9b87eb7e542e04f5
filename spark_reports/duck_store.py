"""A store on this machine, read by DuckDB. Only Spark writes one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import duckdb
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from pyspark.sql.types import ArrayType, DataType, MapType

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.spark_reports.duck_session import BY_SPARK, DuckSession
from rocketchaos.spark_reports.places import Place, no_store
from rocketchaos.spark_reports.plain_files import files_of, schema_of
from rocketchaos.spark_reports.report import StoreSummary
from rocketchaos.spark_reports.store_state import (
    KEPT_SINCE_PROPERTY,
    VERSION_PROPERTY,
    kept_since,
    lacks,
    require_undamaged,
    require_version,
)
from rocketchaos.spark_reports.store_summary import summary_of
from rocketchaos.spark_reports.store_views import NEWEST_INGEST, SIDES, counted_rows, view
from rocketchaos.spark_reports.tables import QUARANTINE, RUNS, TABLES

_STORED = "stored_{}"


class DuckStore:
    """A store that exists, in this version. Use `opened`."""

    def __init__(self, place: Place, connection: duckdb.DuckDBPyConnection, uri: str) -> None:
        """
        Raises:
            UsageProblem: there is none, or one of another version, it is damaged or elsewhere.
        """
        if place.folder is None or "%" in place.uri:
            # `deltalake` takes `%20` in a path for a space.
            why = "is elsewhere" if place.folder is None else "has a % in its path"
            raise UsageProblem(f"DuckDB can't read the store: {uri} {why}", BY_SPARK)
        place.require_there()
        self.place, self._folder = place, place.folder
        self.session = DuckSession(connection)
        self._versions: Mapping[str, int] = {}
        if not self._is_there(RUNS.name):
            raise no_store(uri)
        says = self._table(RUNS.name).metadata().configuration
        require_version(int(says.get(VERSION_PROPERTY, 0)), uri)
        missing = [name for name in TABLES if not self._is_there(name)]
        if missing:
            raise lacks(place, missing)
        for name in TABLES:
            require_undamaged(place, self._folder / name)
        self.kept_since = kept_since(says.get(KEPT_SINCE_PROPERTY))

    @classmethod
    @contextmanager
    def opened(cls, uri: str) -> Iterator[DuckStore]:
        """The store that is there.

        Raises:
            UsageProblem: there is none, or one of another version, it is damaged or elsewhere.
        """
        with duckdb.connect() as connection:
            yield cls(Place.of(uri), connection, uri)

    def register(self) -> None:
        """Make views with the tables' names: one moment of the store, whatever is written meanwhile."""
        tables = self._one_moment()
        connection = self.session.connection
        for name, table in tables.items():
            kept = _STORED.format(name) if name in (RUNS.name, QUARANTINE.name) else name
            with self._readable(name):
                connection.execute(view(kept, self._rows(name, table)))
        for name, text in counted_rows(*map(_STORED.format, (RUNS.name, QUARANTINE.name))).items():
            connection.execute(view(name, text))
        connection.execute(view(SIDES, NEWEST_INGEST))
        self._versions = {name: table.version() for name, table in tables.items()}

    def summary(self) -> StoreSummary:
        """What is in the views of `register`."""
        return summary_of(self.session, self.place, self._versions, self.kept_since)

    def _one_moment(self) -> Mapping[str, DeltaTable]:
        """Tables that belong together: `runs` didn't change while the others were looked at."""
        while True:
            tables = {name: self._table(name) for name in TABLES}
            if self._table(RUNS.name).version() == tables[RUNS.name].version():
                return tables

    def _rows(self, name: str, table: DeltaTable) -> str:
        """The SQL that reads a table: its files by their names, whatever columns each has.

        Raises:
            ValueError: the table is more than its files.
        """
        files = files_of(table, self._folder / name)
        if files is None:
            raise ValueError("it is more than its Parquet files")
        types = {field.name: _type(field.dataType) for field in schema_of(table)}
        none = ", ".join(f"CAST(NULL AS {kind}) AS {column}" for column, kind in types.items())
        rows = f"SELECT {none} WHERE false"
        if files:
            named = ", ".join(map(_text, files))
            rows += f" UNION ALL BY NAME SELECT * FROM read_parquet([{named}], union_by_name = true)"
        # A file of another writer may have times with a zone.
        cast = ", ".join(f"CAST({column} AS {kind}) AS {column}" for column, kind in types.items())
        return f"SELECT {cast} FROM ({rows})"

    def _is_there(self, name: str) -> bool:
        return (self._folder / name / "_delta_log").is_dir()

    def _table(self, name: str) -> DeltaTable:
        with self._readable(name):
            return DeltaTable(self._folder / name)

    @contextmanager
    def _readable(self, name: str) -> Iterator[None]:
        try:
            yield
        except (DeltaError, duckdb.Error, OSError, ValueError) as error:
            said = str(error).partition("\n")[0]
            raise UsageProblem(f"DuckDB can't read {self._folder / name}: {said}", BY_SPARK) from error


def _type(of: DataType) -> str:
    """DuckDB's name of a type. Times have no zone, and are in UTC: with one, DuckDB gives them only where there is
    `pytz`."""
    if isinstance(of, ArrayType):
        return f"{_type(of.elementType)}[]"
    if isinstance(of, MapType):
        return f"MAP({_type(of.keyType)}, {_type(of.valueType)})"
    return of.simpleString()


def _text(path: Path) -> str:
    """The path in SQL."""
    return "'" + str(path).replace("'", "''") + "'"
