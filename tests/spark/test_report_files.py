"""A report becomes files, with Spark: tables for machines, whole or not at all."""

from __future__ import annotations

import csv
import dataclasses
import errno
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.spark_reports.render import files
from rocketchaos.spark_reports.render.files import write
from rocketchaos.spark_reports.report import Report, Section
from tests.unit.spark_reports.render.samples import HOSTILE, SCHEMA, empty, rows, whole

pytestmark = pytest.mark.spark


def only_tables(report: Report, **more: Sequence[object]) -> Report:
    """Without figures, which these tests need not."""
    tables = [dataclasses.replace(table, **more) for table in report.tables]
    return dataclasses.replace(report, sections=[Section("Tables", "", tables)])


def test_a_report_is_written_for_people_and_machines_and_replaced_whole(
    spark: SparkSession, tmp_path: Path
) -> None:
    out = tmp_path / "new" / "ä %20out"
    strange = only_tables(whole([HOSTILE, 'b, "c"\nd', "c", "d"]))
    written = write(strange, out)
    assert written.page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads(written.document.read_text(encoding="utf-8"))["name"] == "flakiness"
    assert str(written.page) in written.text.read_text(encoding="utf-8").replace("`", "")
    for form in ("parquet", "delta"):
        frame = spark.read.format(form).load(f"file://{written.tables}/cells.{form}")
        assert [(item.name, item.dataType) for item in frame.schema] == [
            (item.name, item.dataType) for item in SCHEMA
        ]
        expected = rows([HOSTILE, 'b, "c"\nd', "c", "d"])
        got = sorted((row.asDict() for row in frame.collect()), key=lambda row: row["runs"])
        assert [{**row, "first": None} for row in got] == [{**row, "first": None} for row in expected]
    with (written.tables / "cells.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["scenario"] for line in lines] == [row["scenario"] for row in expected]
    assert lines[6]["p_reproduce"] == ""
    assert lines[0]["first"] == "2026-01-01T02:11:00+00:00"
    assert lines[0]["stable"] == "true"

    again = write(only_tables(whole(count=3)), out)
    assert again == written
    assert spark.read.format("delta").load(f"file://{written.tables}/cells.delta").count() == 3
    assert sorted(path.name for path in out.iterdir()) == [
        "flakiness",
        "flakiness.html",
        "flakiness.json",
        "flakiness.md",
        "methods.html",
    ]


def test_a_table_without_rows_keeps_its_schema(spark: SparkSession, tmp_path: Path) -> None:
    written = write(empty(), tmp_path)
    for form in ("parquet", "delta"):
        frame = spark.read.format(form).load(f"file://{written.tables}/times.{form}")
        assert frame.schema.names == SCHEMA.names
        assert frame.count() == 0


def test_a_place_that_cannot_be_written_is_reported(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("in the way", encoding="utf-8")
    with pytest.raises(
        EnvironmentNotReady, match=r"(?s)the report timing can't be written to .*Not a directory.*--out"
    ):
        write(empty(), file / "out")


def test_a_full_disk_leaves_the_older_report_whole(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = write(only_tables(whole(count=3)), tmp_path)
    before = written.page.read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write_csv", full)
    with pytest.raises(EnvironmentNotReady, match="No space left on device"):
        write(only_tables(whole(count=5)), tmp_path)
    assert written.page.read_bytes() == before
    assert spark.read.parquet(f"file://{written.tables}/cells.parquet").count() == 3
    assert len(list(tmp_path.iterdir())) == 5


def test_two_tables_of_one_name_are_a_mistake(spark: SparkSession, tmp_path: Path) -> None:
    report = only_tables(whole(count=1))
    twice = dataclasses.replace(report, sections=[*report.sections, *report.sections])
    with pytest.raises(ValueError, match="cells"):
        write(twice, tmp_path)
