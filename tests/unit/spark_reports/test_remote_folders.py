"""Run folders on another file system: a broken connection is never taken for a broken file."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from rocketchaos.spark_reports.driver import driver_of
from rocketchaos.spark_reports.ingest.reading import reader


@pytest.mark.parametrize(
    ("paths", "tolerant"),
    [
        (["file:/runs/a/facts.jsonl"], "true"),
        (["s3a://runs/a/facts.jsonl"], "false"),
        (["file:/runs/a/facts.jsonl", "hdfs://host/runs/b/facts.jsonl"], "false"),
    ],
)
def test_only_a_disk_of_this_host_has_broken_files(paths: list[str], tolerant: str) -> None:
    spark = cast("SparkSession", SimpleNamespace(read=SimpleNamespace(options=lambda **options: options)))
    assert cast("dict[str, str]", reader(spark, paths))["ignoreCorruptFiles"] == tolerant


class _Raised(Py4JJavaError):  # type: ignore[misc]
    """An exception of the JVM without one."""

    def __init__(self, name: str) -> None:
        Exception.__init__(self, name)
        self.java_exception = SimpleNamespace(getClass=lambda: SimpleNamespace(getName=lambda: name))

    def __str__(self) -> str:
        return str(self.args[0])


def _spark(raised: str) -> SparkSession:
    def copy(*_: object) -> None:
        raise _Raised(raised)

    files = SimpleNamespace(copyToLocalFile=copy)

    def path(_: str) -> Any:
        return SimpleNamespace(getFileSystem=lambda _configuration: files)

    hadoop = SimpleNamespace(fs=SimpleNamespace(Path=path))
    context = SimpleNamespace(
        _jvm=SimpleNamespace(org=SimpleNamespace(apache=SimpleNamespace(hadoop=hadoop))),
        _jsc=SimpleNamespace(hadoopConfiguration=lambda: None),
    )
    return cast("SparkSession", SimpleNamespace(sparkContext=context))


@pytest.mark.parametrize(
    "name", ["java.io.FileNotFoundException", "org.apache.hadoop.security.AccessControlException"]
)
def test_a_missing_or_forbidden_file_shows_afterwards(name: str, tmp_path: Path) -> None:
    driver_of(_spark(name)).fetch("hdfs://host/runs/a", ["run.json"], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_broken_connection_ends_the_ingest(tmp_path: Path) -> None:
    with pytest.raises(Py4JJavaError):
        driver_of(_spark("java.net.ConnectException")).fetch("hdfs://host/runs/a", ["run.json"], tmp_path)
