"""Words of the facts: labels of clients, signatures of texts, and what logs tell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as fn

from rocketchaos.spark_reports.contract import RUN
from rocketchaos.spark_reports.ingest import logs
from rocketchaos.spark_reports.ingest.logs import MOST, found_in, log_lines
from rocketchaos.spark_reports.ingest.runs import client_label
from rocketchaos.spark_reports.ingest.signature import signature

pytestmark = pytest.mark.spark

TOKEN = "mwqsryxtki69qa"
CLIENTS = [
    ("java", "5.5.0", {"a": "java@5.5.0", "b": "java@5.5.0"}, "java"),
    ("java", "4.9.4", {"a": "java@4.9.4"}, "java 4.9.4"),
    ("python", "2.0.0", {"a": "python@2.0.0"}, "python 2.0.0"),
    ("java+python", "5.5.0+2.0.0", {"a": "python@2.0.0", "b": "java@5.5.0"}, "java+python 2.0.0"),
    ("java", "4.9.4+5.5.0", {"a": "java@5.5.0", "b": "java@4.9.4"}, "java 4.9.4+java"),
    # Folders that don't tell which version is whose.
    ("java", "5.5.0", None, "java"),
    ("grpc", "5.1.2", None, "grpc 5.1.2"),
    ("java+python", "5.5.0+2.0.0", None, "java+python 2.0.0"),
    ("java+python", "4.9.4+5.5.0+2.0.0", None, "java+python 4.9.4+5.5.0+2.0.0"),
    ("", "5.5.0", {}, "none"),
    (None, None, None, "unknown"),
]
SAME = [
    (
        f"timeout of g-{TOKEN} at 127.0.0.1:32062, 2645(ms)",
        f"timeout of g-{TOKEN} at 10.0.0.7:1, 3(ms)",
    ),
    ("2026-11-21 21:51:18.983 WARN PullThread_2 - no", "2025-01-02T03:04:05,006Z WARN PullThread_17 - no"),
    ("lost orders-1, orders-2, orders-3", "lost orders-7, orders-8"),
    (
        "id FD00000000000000000000000000000276CB4E0E at Foo@1b2c3d4e",
        "id AC10000200002A9F0000A7B1 at Foo@0a1b2c",
    ),
    ("took 12.5 s\n  and   more", "took 7 s and more"),
]


def test_clients_have_a_version_where_it_is_not_the_brokers(spark: SparkSession) -> None:
    rows = [
        (
            number,
            Row(
                **{
                    **dict.fromkeys(RUN.fieldNames()),
                    "client": client,
                    "client_version": version,
                    "clients": clients,
                    "rocketmq": "5.5.0",
                }
            ),
        )
        for number, (client, version, clients, _) in enumerate(CLIENTS)
    ]
    frame = spark.createDataFrame(rows, f"number int, record {RUN.simpleString()}")
    found = frame.select("number", client_label().alias("label")).orderBy("number").collect()
    assert [row.label for row in found] == [expected for *_, expected in CLIENTS]


def test_equal_causes_have_equal_signatures_and_others_not(spark: SparkSession) -> None:
    texts = [text for pair in SAME for text in pair]
    frame = spark.createDataFrame(list(enumerate(texts)), "number int, text string").repartition(1)
    signed = frame.select("number", signature(fn.col("text"), fn.lit(TOKEN)).alias("signature"))
    found = [row.signature for row in signed.orderBy("number").collect()]
    assert found[::2] == found[1::2]
    assert len(set(found)) == len(SAME)
    assert found[0] == "timeout of g-<run> at <address>, <n>(ms)"


def test_the_first_telling_lines_of_a_log_are_told_and_others_counted(spark: SparkSession) -> None:
    other = "mwqxztiaupsjsm"
    path = "file:/var/logs/runs/s/1/logs/a/logs/rocketmq-cpp/client.log"
    texts = [
        "INFO all is well, no exception",
        "WARN something else",
        f"WARN the consumer's group info not exist, group: g-{TOKEN}",
        f"WARN the consumer's group info not exist, group: g-{other}",
        "ERROR in post-initialization",
        *(f"ERROR cause {'x' * number}" for number in range(MOST + 5)),
        "ERROR cause x",
    ]
    lines = spark.createDataFrame(
        [(text, path, position) for position, text in enumerate(texts)],
        "value string, path string, position long",
    )
    wrong = spark.createDataFrame(
        [("file:/var/logs/runs/s/1/", 1, TOKEN, "b", "product")],
        "place string, run_key long, run string, batch string, side string",
    )
    found = {row.text: row for row in found_in(lines, wrong).collect()}
    assert len(found) == MOST
    assert found[texts[2]].node == "a"
    assert found["ERROR cause x"].occurrences == 2
    assert "ERROR in post-initialization" in found
    assert not any(text.startswith("INFO") or other in text for text in found)


def test_a_folder_of_logs_that_has_just_been_removed_is_left_out(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, removed = tmp_path / "there", tmp_path / "removed"
    there.mkdir()
    removed.mkdir()
    (there / "broker.log").write_text("one\ntwo\n")
    looked_up = logs._that_are_there

    def and_remove(spark: SparkSession, places: Sequence[str]) -> list[str]:
        found = looked_up(spark, places)
        if removed.exists():
            removed.rmdir()
        return found

    monkeypatch.setattr(logs, "_that_are_there", and_remove)
    lines = log_lines(spark, [f"file:{place}/" for place in (there, removed)])
    assert [row.value for row in lines.orderBy("position").collect()] == ["one", "two"]
