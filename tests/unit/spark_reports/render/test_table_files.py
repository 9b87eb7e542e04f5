"""Parquet and Delta files of tables, as programs without Spark read them."""

from __future__ import annotations

from pathlib import Path

import deltalake
import pytest
from deltalake.exceptions import DeltaError
from pyarrow import parquet

from rocketchaos.spark_reports.render.tables import write_parquet_and_delta
from tests.unit.spark_reports.render.samples import SCHEMA, whole


def test_both_have_all_rows_and_columns_wherever_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "a b%20c #1?"
    folder.mkdir()
    (table, *_) = whole(count=3).tables
    write_parquet_and_delta(table, folder)
    of_parquet = parquet.read_table(folder / f"{table.name}.parquet" / "part-00000.parquet")
    (file,) = (folder / f"{table.name}.delta").glob("*.parquet")
    assert of_parquet.schema.names == SCHEMA.names
    assert of_parquet.to_pylist() == parquet.read_table(file).to_pylist()
    assert [row["scenario"] for row in of_parquet.to_pylist()] == [row["scenario"] for row in table.rows]


def test_what_delta_cannot_write_is_reported_as_other_files_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise DeltaError("No space left on device")

    monkeypatch.setattr(deltalake, "write_deltalake", full)
    with pytest.raises(OSError, match="No space left"):
        write_parquet_and_delta(whole(count=1).tables[0], tmp_path)
