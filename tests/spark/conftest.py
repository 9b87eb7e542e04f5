"""One Spark for all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from spark_reports.session import MEMORY_VARIABLE, spark_session

# For the Sparks that tests start as processes too.
os.environ.setdefault(MEMORY_VARIABLE, "1g")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    with spark_session("local[2]") as session:
        yield session
