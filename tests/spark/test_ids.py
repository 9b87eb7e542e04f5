"""Facts go by ids, not by sentences; stores of before there were ids are read as before."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rocketchaos.spark_reports.migrations import migrate
from rocketchaos.spark_reports.store import Store
from rocketchaos.spark_reports.store_state import VERSION_PROPERTY
from rocketchaos.spark_reports.tables import CHECKS as OF_CHECKS
from tests.spark import stores

pytestmark = pytest.mark.spark


def test_a_store_of_version_2_gets_the_ids_of_checks_from_its_next_runs_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = stores.made(spark, tmp_path)
    row = {"run_key": 1, "run": "old", "batch": "b", "position": 0, "name": "delivered to b", "holds": "yes"}
    path = store.place.of_table(OF_CHECKS.name)
    rows = stores.frame(spark, OF_CHECKS, row).drop("id")
    rows.write.format("delta").mode("overwrite").option("overwriteSchema", True).save(path)
    of_runs = store.place.of_table("runs")
    spark.sql(f"ALTER TABLE delta.`{of_runs}` SET TBLPROPERTIES ('{VERSION_PROPERTY}' = '2')")
    assert migrate(spark, str(tmp_path), print) == 2
    found = Store.open(spark, str(tmp_path)).read(OF_CHECKS).first()
    assert found is not None
    assert (found["name"], found["id"]) == ("delivered to b", None)
