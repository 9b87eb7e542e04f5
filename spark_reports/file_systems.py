"""What Spark and Delta need for the file systems of stores and run folders, beyond what Spark brings.

HDFS needs nothing: Spark has its client, and Delta commits by a rename that HDFS refuses where the target exists.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pyspark

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.jars.bundles import jars
from rocketchaos.harness.jars.java_home import find_java
from rocketchaos.spark_reports import log_store, requirements

Progress = Callable[[str], None]

_ENDPOINT, _PATH_STYLE = "spark.hadoop.fs.s3a.endpoint", "spark.hadoop.fs.s3a.path.style.access"
_REGION = "spark.hadoop.fs.s3a.endpoint.region"
_OF_AMAZON = (".amazonaws.com", ".amazonaws.com.cn")
_WAITS = {
    "spark.hadoop.fs.s3a.retry.limit": "4",
    "spark.hadoop.fs.s3a.connection.establish.timeout": "10s",
}
"""Where a server is gone. By default a request is tried for minutes; and an ingest makes several until it ends."""
_ANY_REGION = "us-east-1"
"""Requests are signed with a region; servers of one's own take this one."""


@dataclass(frozen=True, slots=True)
class FileSystem:
    """A file system for which Spark needs more than it brings."""

    scheme: str
    """Of its URIs."""
    jars: Callable[[Progress], Sequence[Path]]
    """Fetched where the cache lacks them."""
    settings: Callable[[Mapping[str, str]], Mapping[str, str]]
    """Of Spark, by the user's own settings, which come first."""


def _s3a_jars(progress: Progress) -> Sequence[Path]:
    """S3A with the parts of Amazon's SDK that it uses, and our log store.

    Raises:
        EnvironmentNotReady: they can't be fetched or made.
    """
    of_s3a = jars(requirements.s3a(hadoop_version()), progress)
    needed = (*of_s3a, *jars(requirements.delta(), progress))
    storage = [item for item in needed if item.name.startswith(("delta-storage-", "hadoop-aws-"))]
    made = log_store.log_store_jar(
        find_java(full_jdk=True), [*_of_pyspark("hadoop-client-api-*.jar"), *storage], progress
    )
    return [*of_s3a, made]


def _s3a_settings(user: Mapping[str, str]) -> Mapping[str, str]:
    """Where the server isn't Amazon's: what such servers need."""
    settings = {"spark.delta.logStore.s3a.impl": log_store.CLASS, **_WAITS}
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    endpoint = user.get(_ENDPOINT) or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint and not _is_amazon(endpoint):
        settings |= {_PATH_STYLE: "true", _REGION: region or _ANY_REGION}
    elif region:
        settings |= {_REGION: region}
    return settings


def _is_amazon(endpoint: str) -> bool:
    host = urlsplit(endpoint if "//" in endpoint else f"//{endpoint}").hostname or ""
    return host.endswith(_OF_AMAZON)


FILE_SYSTEMS: Mapping[str, FileSystem] = {
    item.scheme: item for item in (FileSystem("s3a", _s3a_jars, _s3a_settings),)
}
"""By scheme. A new one is registered here."""


def needed(places: Iterable[str]) -> list[FileSystem]:
    """Those of these URIs and paths, each once."""
    schemes = {text.partition(":")[0].lower() for text in places if ":" in text}
    return [item for scheme, item in FILE_SYSTEMS.items() if scheme in schemes]


def hadoop_version() -> str:
    """The version of Hadoop that PySpark brings.

    Raises:
        EnvironmentNotReady: it brings none.
    """
    for jar in _of_pyspark("hadoop-client-api-*.jar"):
        return jar.stem.removeprefix("hadoop-client-api-")
    raise EnvironmentNotReady(
        "this PySpark brings no Hadoop", "Install the one that the extra asks for: pip install pyspark."
    )


def _of_pyspark(pattern: str) -> list[Path]:
    return sorted((Path(pyspark.__file__).parent / "jars").glob(pattern))
