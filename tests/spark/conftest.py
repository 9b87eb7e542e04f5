"""One Spark for all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rocketchaos.spark_reports.spark_session import MEMORY_VARIABLE, spark_session

# For the Sparks that tests start as processes too.
os.environ.setdefault(MEMORY_VARIABLE, "1g")
# Few rows never bring in again what code generation, the second compiler of the JVM and its verifier cost. Without
# the second compiler a JVM has 48 MB for compiled code: tests fill that, and compile the same again and again.
os.environ.setdefault(
    "JDK_JAVA_OPTIONS",
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first: beside it all others are run (`--no-loadscope-reorder`)."""
    items.sort(key=lambda item: item.path.name != "test_store.py")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    # One that reaches S3, too.
    with spark_session("local[2]", places=["s3a://bucket/store"]) as session:
        session.conf.set("spark.sql.codegen.wholeStage", "false")
        # Some of the processes that tests start generate code, as a user's do.
        session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        # Spark merges partitions of few rows while it runs; here there are no others.
        session.conf.set("spark.sql.shuffle.partitions", "1")
        session.conf.set("spark.databricks.delta.snapshotPartitions", "1")
        yield session
