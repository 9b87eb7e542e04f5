"""The requirements of Spark on this machine, checked before any import of Spark."""

from __future__ import annotations

import importlib.metadata
import importlib.util

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.jars.bundles import Bundle

_INSTALL = "Install it: pip install 'rocketmq-chaos-harness[reports]'."
_OF_STORES = {"pyspark": "pyspark", "delta": "delta-spark"}
_OF_REPORTS = {"plotly": "plotly", "scipy": "scipy"}
_SCALA = "2.13"
# Spark brings these, in versions of its own.
_OF_SPARK = ("org.scala-lang", "org.slf4j", "org.apache.logging.log4j", "com.fasterxml.jackson.core")


def require_packages(*, reports: bool = False) -> None:
    """Make sure that the packages of the extra `reports` are there.

    Args:
        reports: also what only the reports need, and neither ingest nor the other commands of the store.

    Raises:
        EnvironmentNotReady: one is not; the message names it, and the command that installs it.
    """
    for module, package in (_OF_STORES | (_OF_REPORTS if reports else {})).items():
        if importlib.util.find_spec(module) is None:
            raise EnvironmentNotReady(
                f"reports need the package `{package}`, which is not installed", _INSTALL
            )


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
