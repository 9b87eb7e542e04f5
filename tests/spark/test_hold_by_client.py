"""How long brokers, or the proxy, hold what finds nothing: told by a run's timers, not by its clients' names."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rocketchaos.harness.rocketmq.timers import timers_ms
from rocketchaos.harness.rocketmq.timing_profiles import FAITHFUL
from rocketchaos.spark_reports.queries import query
from tests.spark import tables

pytestmark = pytest.mark.spark

CLIENTS: dict[str, dict[str, int] | None] = {
    "java": timers_ms(FAITHFUL, "5.5.0", [("java", "5.5.0")]),
    "grpc 5.1.2": timers_ms(FAITHFUL, "5.5.0", [("grpc", "5.1.2")]),
    "grpc 5.1.2+java": timers_ms(FAITHFUL, "5.5.0", [("grpc", "5.1.2"), ("java", "5.5.0")]),
    "old": None,
    # A kind of client that no query has ever heard of.
    "newest": {**timers_ms(FAITHFUL, "5.5.0", []), "newest.settings": 60_000, "proxy.hold-receive": 20_000},
}
WHATS = ("delivery", "offset-correction")
HOLD, HOLD_BY_PROXY = 15_000 + 5_000, 20_000 + 5_000


def test_whoever_receives_from_the_proxy_waits_as_long_as_that_holds(spark: SparkSession) -> None:
    cell = {"scenario": "s", "rocketmq": "5.5.0", "cluster": "embedded", "timing": "faithful"}
    runs: list[dict[str, Any]] = [
        {"run_key": key, "source": f"file:/r{key}", "client": client, "timers_ms": timers, **cell}
        for key, (client, timers) in enumerate(CLIENTS.items())
    ]
    took = {"what": WHATS[1], "cause": "sent", "ms": 1000.0, "at_least_ms": 900.0}
    tables.register(
        spark,
        runs=runs,
        messages=[{"run_key": run["run_key"], "delivery_ms": 1000.0} for run in runs],
        timings=[{"run_key": run["run_key"], **took} for run in runs],
    )

    rows = spark.sql(query("timing_histograms")).collect()

    limits = {(row["client"], row["what"]): row["limit_ms"] for row in rows}
    assert limits == {
        ("java", "delivery"): HOLD,
        ("java", "offset-correction"): HOLD + 5_000,
        **dict.fromkeys(product(("grpc 5.1.2", "newest"), WHATS), HOLD_BY_PROXY),
        **dict.fromkeys(product(("grpc 5.1.2+java", "old"), WHATS), None),
    }
