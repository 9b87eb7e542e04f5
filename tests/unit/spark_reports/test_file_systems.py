"""What Spark is told for the file system of a store."""

from __future__ import annotations

import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.spark_reports import requirements
from rocketchaos.spark_reports.file_systems import FILE_SYSTEMS, hadoop_version, needed

PREFIX = "spark.hadoop.fs.s3a."
OF_SERVERS = {"path.style.access", "endpoint.region"}


@pytest.fixture(autouse=True)
def _without_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("places", "schemes"),
    [
        (["/store", "./a:b", "file:/store", "hdfs://name/store"], []),
        (["hdfs://name/store", "s3a://bucket/store", "S3A://bucket/runs"], ["s3a"]),
    ],
)
def test_a_file_system_is_needed_once_for_all_its_places(places: list[str], schemes: list[str]) -> None:
    assert [item.scheme for item in needed(places)] == schemes


@pytest.mark.parametrize(
    ("endpoint", "region", "told"),
    [
        (None, None, {}),
        (None, "eu-west-1", {"endpoint.region": "eu-west-1"}),
        ("https://s3.eu-west-1.amazonaws.com", None, {}),
        ("http://127.0.0.1:9000", None, {"endpoint.region": "us-east-1", "path.style.access": "true"}),
        ("minio.example.org", "here", {"endpoint.region": "here", "path.style.access": "true"}),
    ],
)
@pytest.mark.parametrize("by_user", [True, False])
def test_servers_that_are_not_amazons_have_the_bucket_in_the_path(
    endpoint: str | None,
    region: str | None,
    told: dict[str, str],
    by_user: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    user = {f"{PREFIX}endpoint": endpoint} if endpoint and by_user else {}
    if endpoint and not by_user:
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    if region:
        monkeypatch.setenv("AWS_REGION", region)
    settings = FILE_SYSTEMS["s3a"].settings(user)
    assert settings["spark.delta.logStore.s3a.impl"] == "rocketchaos.ConditionalPutLogStore"
    found = {name.removeprefix(PREFIX): value for name, value in settings.items()}
    assert {name: value for name, value in found.items() if name in OF_SERVERS} == told


def test_the_hadoop_of_pyspark_is_one_whose_sdk_is_known() -> None:
    bundle = requirements.s3a(hadoop_version())
    assert bundle.complete
    assert len(set(bundle.coordinates)) == len(bundle.coordinates)
    with pytest.raises(EnvironmentNotReady, match=r"with Hadoop 2\.7\.0"):
        requirements.s3a("2.7.0")
