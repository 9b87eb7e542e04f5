"""The reports, by name; a new one is registered here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pyspark.sql import SparkSession

from rocketchaos.spark_reports.diff import diff
from rocketchaos.spark_reports.divergence import divergence
from rocketchaos.spark_reports.flakiness import flakiness
from rocketchaos.spark_reports.report import Report, StoreSummary
from rocketchaos.spark_reports.timing import timing

Builder = Callable[[SparkSession, StoreSummary], Report]
"""Makes a report, from a session with views that have the names of the store's tables."""

REPORTS: Mapping[str, Builder] = MappingProxyType(
    {"diff": diff, "flakiness": flakiness, "divergence": divergence, "timing": timing}
)
