"""Stores on S3 and on HDFS, on real servers: the same rows as on a disk, whoever writes and whatever breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from py4j.java_collections import ListConverter
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from rocketchaos.spark_reports import log_store
from rocketchaos.spark_reports.store import Store
from tests.spark import servers, stores

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

LIMIT_S = 480


@pytest.fixture(scope="module")
def small_s3(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Server]:
    """One that this process's Spark reaches, too."""
    with servers.small_s3(tmp_path_factory.mktemp("small-s3")) as server:
        _reach(spark, server)
        yield server


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Server]:
    with servers.hdfs(tmp_path_factory.mktemp("hdfs")) as server:
        yield server


def _reach(spark: SparkSession, server: servers.Server) -> None:
    """Let the Spark of this process reach a bucket, which others are told by their environment."""
    settings = {
        "endpoint": server.environment["AWS_ENDPOINT_URL"],
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "access.key": servers.USER,
        "secret.key": servers.SECRET,
    }
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    for name, value in settings.items():
        configuration.set(f"fs.s3a.bucket.{server.uri.removeprefix('s3a://')}.{name}", value)


@pytest.mark.parametrize("kind", ["small_s3", "hdfs"])
def test_a_store_elsewhere_is_made_written_and_read(
    spark: SparkSession, kind: str, request: pytest.FixtureRequest
) -> None:
    store = Store.create(spark, f"{request.getfixturevalue(kind).uri}/made")
    stores.ingest(store, "one", "other")
    stores.ingest(store, "other", digest="judged again", messages=5)
    assert stores.visible(Store.open(spark, store.place.uri)) == {"one": 3, "other": 5}


def test_on_s3_a_commit_that_is_there_is_never_replaced(
    spark: SparkSession, small_s3: servers.Server
) -> None:
    jvm: Any = spark.sparkContext._jvm
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    assert spark.sparkContext.getConf().get("spark.delta.logStore.s3a.impl") == log_store.CLASS
    log = jvm.rocketchaos.ConditionalPutLogStore(configuration)
    path = jvm.org.apache.hadoop.fs.Path(f"{small_s3.uri}/commits/_delta_log/{0:020}.json")
    log.write(path, _java(spark, ["mine", "too"]), False, configuration)
    for others in (["theirs"], ["mine"], []):
        with pytest.raises(Py4JJavaError, match=r"java\.nio\.file\.FileAlreadyExistsException"):
            log.write(path, _java(spark, others), False, configuration)
    # As where the answer is lost, and S3A writes the same once more.
    log.write(path, _java(spark, ["mine", "too"]), False, configuration)
    assert list(log.read(path, configuration)) == ["mine", "too"]


def _java(spark: SparkSession, lines: list[str]) -> Any:
    return ListConverter().convert(lines, spark.sparkContext._gateway._gateway_client).iterator()
