"""The requirements of Spark on this machine, checked before any import of Spark."""

import importlib.metadata
import importlib.util
from collections.abc import Mapping

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.jars.bundles import Bundle

_INSTALL = "Install it: pip install 'rocketmq-chaos-harness[reports]'."
_OF_STORES = {"pyspark": "pyspark", "delta": "delta-spark"}
_OF_REPORTS = {
    "deltalake": "deltalake",
    "duckdb": "duckdb",
    "plotly": "plotly",
    "pyarrow": "pyarrow",
    "scipy": "scipy",
}
_OF_CONNECT = {
    "grpc": "grpcio",
    "grpc_status": "grpcio-status",
    "google.rpc": "googleapis-common-protos",
    "pyarrow": "pyarrow",
    "pandas": "pandas",
    "zstandard": "zstandard",
}
_SCALA = "2.13"
# Spark brings these, in versions of its own.
_OF_SPARK = ("org.scala-lang", "org.slf4j", "org.apache.logging.log4j", "com.fasterxml.jackson.core")
# One by one: jgo 3.2 can't read the SDK's POMs, which import `${project.parent.version}`. Spark brings Netty
# and Apache's HTTP client.
_OF_S3A: Mapping[str, tuple[str, ...]] = {
    "3.4.2": (
        "2.29.52",
        "software.amazon.s3.analyticsaccelerator:analyticsaccelerator-s3:1.2.1",
        "software.amazon.eventstream:eventstream:1.0.1",
        "org.reactivestreams:reactive-streams:1.0.4",
    )
}
"""By version of Hadoop: the version of Amazon's SDK that its S3A is made for, and what else both need."""
_AWS_SDK_PARTS = (
    "annotations", "apache-client", "arns", "auth", "aws-core", "aws-query-protocol", "aws-xml-protocol",
    "checksums", "checksums-spi", "crt-core", "endpoints-spi", "http-auth", "http-auth-aws",
    "http-auth-aws-eventstream", "http-auth-spi", "http-client-spi", "identity-spi", "json-utils",
    "metrics-spi", "netty-nio-client", "profiles", "protocol-core", "regions", "retries", "retries-spi",
    "s3", "s3-transfer-manager", "sdk-core", "sts", "third-party-jackson-core", "utils",
)  # fmt: skip


def require_packages(*, reports: bool = False) -> None:
    """Make sure that the packages of the extra `reports` are there.

    Args:
        reports: also what only the reports need, and neither ingest nor the other commands of the store.

    Raises:
        EnvironmentNotReady: one is not; the message names it, and the command that installs it.
    """
    _require(_OF_STORES | (_OF_REPORTS if reports else {}), "reports need", _INSTALL)


def require_connect() -> None:
    """Make sure that the packages of the extra `connect` are there.

    Raises:
        EnvironmentNotReady: one is not; the message names it, and the command that installs it.
    """
    _require(_OF_CONNECT, "Spark Connect needs", _INSTALL.replace("[reports]", "[connect]"))


def _require(packages: Mapping[str, str], needed: str, install: str) -> None:
    for module, package in packages.items():
        if not _is_there(module):
            raise EnvironmentNotReady(f"{needed} the package `{package}`, which is not installed", install)


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def delta() -> Bundle:
    """The jars of Delta Lake that go with the installed packages `delta-spark` and `pyspark`."""
    version = importlib.metadata.version("delta-spark")
    spark = ".".join(importlib.metadata.version("pyspark").split(".")[:2])
    return Bundle(
        f"delta-{version}-spark-{spark}",
        f"Delta Lake {version}",
        [f"io.delta:delta-spark_{spark}_{_SCALA}:{version}"],
        provided=_OF_SPARK,
    )


def s3a(hadoop: str) -> Bundle:
    """S3A of this version of Hadoop, with the parts of Amazon's SDK that it uses: the whole SDK has 600 MB.

    Raises:
        EnvironmentNotReady: which versions go with this Hadoop isn't known.
    """
    if hadoop not in _OF_S3A:
        raise EnvironmentNotReady(
            f"stores on S3 are not known to work with Hadoop {hadoop}, which this PySpark brings",
            f"Use one that brings {', '.join(_OF_S3A)}: PySpark 4.1.",
        )
    sdk, *others = _OF_S3A[hadoop]
    parts = [f"software.amazon.awssdk:{name}:{sdk}" for name in _AWS_SDK_PARTS]
    coordinates = [f"org.apache.hadoop:hadoop-aws:{hadoop}", *others, *parts]
    return Bundle(f"hadoop-aws-{hadoop}-sdk-{sdk}", f"S3A of Hadoop {hadoop}", coordinates, complete=True)
