"""The tables of a report as files: CSV for everything, Parquet and Delta with their explicit schema.

Reports have few rows, and these are here already: Spark would take a second for each small table.
"""

from __future__ import annotations

import csv
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.pandas.types import to_arrow_schema

from rocketchaos.spark_reports.render.document import plain_value
from rocketchaos.spark_reports.report import Table

if TYPE_CHECKING:
    import pyarrow


def write_csv(table: Table, path: Path) -> None:
    """One CSV file in UTF-8 with a header. Unknown values are empty.

    Raises:
        OSError: it can't be written.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.schema.names)
        writer.writerows([_flat(row.get(name)) for name in table.schema.names] for row in table.rows)


def write_parquet_and_delta(table: Table, folder: Path) -> None:
    """`<name>.parquet` and `<name>.delta` in the folder, each a folder of its own.

    Raises:
        OSError: they can't be written.
    """
    # Only here: their import takes longer than all else that the command does before Spark runs.
    from deltalake import write_deltalake
    from deltalake.exceptions import DeltaError
    from pyarrow import parquet

    rows = _arrow(table)
    target = folder / f"{table.name}.parquet"
    target.mkdir()
    parquet.write_table(rows, target / "part-00000.parquet")
    # Elsewhere, then moved: deltalake 1.6.6 takes `%20` in a path for a space.
    with tempfile.TemporaryDirectory(prefix="rocketchaos-") as elsewhere:
        written = Path(elsewhere) / "table"
        try:
            write_deltalake(written, rows)
        except DeltaError as error:
            raise OSError(str(error)) from error
        shutil.move(written, folder / f"{table.name}.delta")


def _arrow(table: Table) -> pyarrow.Table:
    """The rows with the types of their columns; Spark reads them as the schema has them."""
    import pyarrow

    columns = {name: [row.get(name) for row in table.rows] for name in table.schema.names}
    return pyarrow.table(columns, to_arrow_schema(table.schema))


def _flat(value: Any) -> Any:
    """A value for CSV: lists and maps as text, yes and no as `true` and `false`."""
    plain = plain_value(value)
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, dict):
        return "; ".join(f"{name}={_flat(item)}" for name, item in plain.items())
    if isinstance(plain, list):
        return "; ".join(str(_flat(item)) for item in plain)
    return "" if plain is None else plain
