"""Facts go by ids, not by sentences; folders and stores of before there were ids are read as before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn
from pyspark.sql.types import StructField, StructType

from rocketchaos.spark_reports import store as module
from rocketchaos.spark_reports.contract import CHECKS, OUTCOME
from rocketchaos.spark_reports.ingest.changes import settled_group
from rocketchaos.spark_reports.ingest.findings import findings
from rocketchaos.spark_reports.migrations import migrate
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.tables import CHECKS as OF_CHECKS
from rocketchaos.spark_reports.tables import FINDINGS
from tests.spark import stores
from tests.spark.histories import events_of

pytestmark = pytest.mark.spark


def test_a_condition_is_known_by_its_id_and_in_older_folders_by_its_title(spark: SparkSession) -> None:
    said: list[dict[str, Any]] = [
        {"condition": "ownership of g"},
        {"condition": "subscription of g for orders"},
        {"condition": "offsets of g for orders within lag 0"},
        {"condition": "whatever it is called", "condition_id": "ownership", "subject": "g"},
        {"condition": "ownership of g", "condition_id": "offsets", "subject": "g"},
    ]
    events = events_of(spark, r=[(float(n), "harness", "settled", data) for n, data in enumerate(said)])
    found = events.select("n", settled_group().alias("group")).orderBy("n").collect()
    assert [row.group for row in found] == ["g", "g", None, "g", None]


def documents(spark: SparkSession, words: str, number: str, *, ids: bool) -> DataFrame:
    """Two runs that end alike, of which the second tells it in other words."""
    fields = ("run_key long", "run string", "batch string")
    keys = StructType.fromDDL(", ".join(fields)).fields
    form = StructType([*keys, StructField("verdict", OUTCOME), StructField("checks", CHECKS)])
    rows = []
    for run, text in enumerate(("one thing", words)):
        outcome = {
            "outcome": "not-reproduced",
            "expected": "reproduced",
            "as_expected": False,
            "reason": text,
        }
        check = {
            "section": "also",
            "id": 'delivered {"count":4,"to":"b"}' if ids else None,
            "name": text,
            "holds": "no",
            "expected": text,
            "observed": f"{text} {number}",
            "events": [],
        }
        rows.append((run, f"run-{run}", "batch", outcome, {"schema_version": 1, "checks": [check]}))
    return spark.createDataFrame(rows, form)


def signatures(spark: SparkSession, *, ids: bool) -> dict[str, set[str]]:
    troubles = [{"trouble": "precondition", "message": item} for item in ("not reached", "never came to it")]
    if ids:
        troubles = [{**trouble, "cause": "settle-ownership"} for trouble in troubles]
    story = events_of(
        spark, **{f"run-{n}": [(1.0, "harness", "trouble", data)] for n, data in enumerate(troubles)}
    )
    logs = spark.createDataFrame([], FINDINGS.schema).drop("signature")
    rows = findings(documents(spark, "another", "7", ids=ids), story, logs)
    found = rows.groupBy("kind").agg(fn.collect_set("signature").alias("signatures")).collect()
    return {row.kind: set(row.signatures) for row in found}


def test_other_words_make_no_other_cause(spark: SparkSession) -> None:
    assert signatures(spark, ids=True) == {
        "outcome": {"outcome not-reproduced expected reproduced"},
        "check": {'check delivered {"count":4,"to":"b"} holds no'},
        "trouble": {"trouble precondition settle-ownership"},
    }


def test_folders_of_before_there_were_ids_have_their_texts_as_signatures(spark: SparkSession) -> None:
    found = signatures(spark, ids=False)
    assert found["trouble"] == {"precondition: not reached", "precondition: never came to it"}
    assert found["check"] == {
        "one thing: expected one thing; observed one thing <n>",
        "another: expected another; observed another <n>",
    }


def test_a_store_of_version_2_gets_the_ids_of_checks_from_its_next_runs_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = Store.create(spark, str(tmp_path))
    row = {"run_key": 1, "run": "old", "batch": "b", "position": 0, "name": "delivered to b", "holds": "yes"}
    path = store.place.of_table(OF_CHECKS.name)
    rows = stores.frame(spark, OF_CHECKS, row).drop("id")
    rows.write.format("delta").mode("overwrite").option("overwriteSchema", True).save(path)
    of_runs = store.place.of_table("runs")
    spark.sql(f"ALTER TABLE delta.`{of_runs}` SET TBLPROPERTIES ('{module.VERSION_PROPERTY}' = '2')")
    assert migrate(spark, str(tmp_path), print) == 2
    found = Store.open(spark, str(tmp_path)).read(OF_CHECKS).first()
    assert found is not None
    assert (found["name"], found["id"]) == ("delivered to b", None)
